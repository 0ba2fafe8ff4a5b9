"""The references that come with the helper package: programs and costs of all solutions in the public cases.

Run as `python -m shardlab_authoring.packaged [CHAPTER...]` at the root of the repository, after a solution or case
has changed. By the Python of the other lane, with `--measure`, the solutions are measured as its JAX writes and compiles
them, so that students on both lanes wait for no compiler; the programs stay those of the pinned one.
"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import sys
import tempfile

from shardlab_course.chapters import question
from shardlab_course.editions import edition, header
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.releases import references
from shardlab_judge.items.program import ProgramItem

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
        asked = [id for id in edition.questions(source) if any(isinstance(i, ProgramItem) for i in question(id).items)]
        if asked:
            manifests = {id: question(id).manifest() for id in asked}
            text = references.text(edition.solution(source), manifests, settings)
            name = f"ch{path.stem[:2]}/references.json"
            texts[name] = with_others(text, root / FOLDER / name)
    return texts


def with_others(text: str, path: pathlib.Path) -> str:
    """The file's new text, with what is known of unchanged programs for other versions of JAX."""
    new, old = json.loads(text), json.loads(path.read_text()) if path.exists() else {"programs": {}, "facts": {}}
    same = {key for key, program in new["programs"].items() if old["programs"].get(key) == program}
    for version, facts in old["facts"].items():
        new["facts"].setdefault(version, {key: fact for key, fact in facts.items() if key in same})
    return json.dumps(new, indent=1, sort_keys=True) + "\n"


def measured(root: pathlib.Path, settings: Settings, chapters: tuple[int, ...] = ()) -> dict[str, str]:
    """The files' texts by name, with what the solutions cost as the JAX that runs writes and compiles them.

    Raises:
        ShardlabError: a chapter or its solution has a mistake.
    """
    texts, version = packaged(root, settings, chapters), importlib.metadata.version("jax")
    for name, text in texts.items():
        kept = json.loads((root / FOLDER / name).read_text())
        kept["facts"][version] = json.loads(text)["facts"][version]
        texts[name] = json.dumps(kept, indent=1, sort_keys=True) + "\n"
    return texts


def main(arguments: list[str]) -> None:
    """Write the files and say so."""
    root = pathlib.Path.cwd()
    chapters = tuple(int(word) for word in arguments if word != "--measure")
    with tempfile.TemporaryDirectory() as cache:
        settings = Settings(cache=pathlib.Path(cache))
        texts = (measured if "--measure" in arguments else packaged)(root, settings, chapters)
    for name, text in texts.items():
        (root / FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main(sys.argv[1:])
