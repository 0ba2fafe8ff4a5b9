"""The references that come with the helper package: programs and costs of all solutions in the public cases.

Run as `python -m shardlab_authoring.packaged [CHAPTER...]` at the root of the repository, after a solution or case
has changed, by a Python of each lane. What the solutions cost is kept for each lane's JAX, as that JAX writes and compiles
them, so that no student waits for a compiler. The programs are those of the oldest one: every newer JAX reads them.
"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from nbformat import NotebookNode

from shardlab_authoring import lanes
from shardlab_course.chapters import question
from shardlab_course.editions import edition, header
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.releases import references
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question

FOLDER = pathlib.Path("src", "shardlab_course")


def packaged(root: pathlib.Path, settings: Settings, chapters: tuple[int, ...] = ()) -> dict[str, str]:
    """The files' texts by name, one for each chapter of `solutions/` that asks for programs, or for those named.

    Raises:
        ShardlabError: a chapter or its solution has a mistake.
    """
    texts: dict[str, str] = {}
    for path in edition.chapters(root):
        if chapters and int(path.stem[:2]) not in chapters:
            continue
        source = edition.unfilled(path, header.syllabus(root))
        if asked := programs(source):
            manifests = {each.id: each.manifest() for each in asked}
            text = references.text(edition.solution(source), manifests, settings)
            name = f"ch{path.stem[:2]}/references.json"
            texts[name] = with_others(text, root / FOLDER / name, lanes.known(root), importlib.metadata.version("jax"))
    return texts


def differ(root: pathlib.Path, settings: Settings, chapter: int) -> str:
    """The file of a chapter's references if its solution is another program, or costs something else; else nothing.

    A program that is what it was costs what it cost. In a newer lane programs are not compared: the oldest lane's are kept.

    Raises:
        ShardlabError: the chapter or its solution has a mistake.
    """
    (path,) = edition.chapters(root, [chapter])
    source = edition.unfilled(path, header.syllabus(root))
    asked = programs(source)
    file = FOLDER / f"ch{path.stem[:2]}" / "references.json"
    kept = json.loads((root / file).read_text()) if (root / file).exists() else {"programs": {}, "facts": {}}
    found = references.programs(edition.solution(source), {q.id: q.manifest() for q in asked}, settings) if asked else {}
    here = importlib.metadata.version("jax")
    same = found == kept["programs"] if here == lanes.known(root)[0] else found.keys() == kept["programs"].keys()
    return "" if same and found.keys() <= kept["facts"].get(here, {}).keys() else str(file)


def programs(source: NotebookNode) -> list[Question]:
    """The questions of a chapter that ask for programs."""
    asked = map(question, edition.questions(source))
    return [each for each in asked if any(isinstance(item, ProgramItem) for item in each.items)]


def with_others(text: str, path: pathlib.Path, lanes: Sequence[str], here: str) -> str:
    """The file's new text, with what is known of unchanged programs for the JAX of other lanes.

    Args:
        text: programs and facts, as the JAX of `here` writes and compiles the solutions.
        lanes: the JAX of each lane, the oldest first: the programs are its own.
    """
    new, old = json.loads(text), json.loads(path.read_text()) if path.exists() else {"programs": {}, "facts": {}}
    programs = new["programs"] if here == lanes[0] else old["programs"]
    same = {key for key, program in programs.items() if old["programs"].get(key) == program}
    facts = {lane: {key: fact for key, fact in old["facts"].get(lane, {}).items() if key in same} for lane in lanes}
    facts[here] = new["facts"][here]
    return json.dumps({"programs": programs, "facts": facts}, indent=1, sort_keys=True) + "\n"


def main(arguments: list[str]) -> None:
    """Write the files and say so."""
    root = pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as cache:
        texts = packaged(root, Settings(cache=pathlib.Path(cache)), tuple(map(int, arguments)))
    for name, text in texts.items():
        (root / FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main(sys.argv[1:])
