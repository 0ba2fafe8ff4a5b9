"""The references that come with the helper package: programs and costs of all solutions in the public cases.

Run as `python -m shardlab_authoring.packaged [CHAPTER...]` at the root of the repository, after a solution or case
has changed. By the Python of the other lane, with `--measure`, the programs that are there are measured for its JAX too, so
that students on both lanes wait for no compiler.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

from shardlab_grader.classes.notebook import Settings
from shardlab_grader.releases import references
from shardlab_grader.releases.references import eight_devices

from shardlab_course.chapters import CHAPTERS, folder, question
from shardlab_course.editions import edition, header
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.references import References

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


def measured(chapters: tuple[int, ...] = ()) -> dict[str, str]:
    """The files' texts by name, with the costs of their programs for the JAX that runs."""
    texts: dict[str, str] = {}
    for chapter in chapters or CHAPTERS:
        if (path := folder(chapter) / "references.json").exists():
            references = References.load(path)
            for question in CHAPTERS[chapter]:
                for item in (item for item in question.items if isinstance(item, ProgramItem)):
                    for case in item.cases_of(question.id, None):
                        references.cost(question.id, item.name, case)
            texts[f"{path.parent.name}/{path.name}"] = references.text()
    return texts


def main(arguments: list[str]) -> None:
    """Write the files and say so."""
    root = pathlib.Path.cwd()
    chapters = tuple(int(word) for word in arguments if word != "--measure")
    if "--measure" in arguments:
        eight_devices()
        texts = measured(chapters)
    else:
        with tempfile.TemporaryDirectory() as cache:
            texts = packaged(root, Settings(cache=pathlib.Path(cache)), chapters)
    for name, text in texts.items():
        (root / FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main(sys.argv[1:])
