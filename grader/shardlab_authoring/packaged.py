"""The references that come with the helper package: programs and costs of all solutions in the public cases.

Run as `python -m shardlab_authoring.packaged [CHAPTER...]` at the root of the repository, after a solution or case
has changed.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

from shardlab_grader.classes.notebook import Settings
from shardlab_grader.releases import references

from shardlab_course.chapters import question
from shardlab_course.editions import edition, header
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
            texts[f"ch{path.stem[:2]}/references.json"] = text
    return texts


def main(chapters: tuple[int, ...]) -> None:
    """Write the files and say so."""
    root = pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as cache:
        texts = packaged(root, Settings(cache=pathlib.Path(cache)), chapters)
    for name, text in texts.items():
        (root / FOLDER / name).write_text(text)
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main(tuple(int(chapter) for chapter in sys.argv[1:]))
