"""The beginning of a new exercise: its folder, and its place in the chapter's text.

Run as `python -m shardlab_authoring.new_question N.M` at the root of the repository. What it writes is a small exercise that
works and looks like its chapter's others, to be changed into another. The chapter's notebook and references follow.
"""

from __future__ import annotations

import collections
import importlib
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator

from shardlab.errors import ShardlabError
from shardlab_authoring import packaged
from shardlab_course import own
from shardlab_course.chapters import CHAPTERS
from shardlab_course.editions import edition
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.own.templates import FUNCTION, MANUAL, PROGRAM, Template, modules
from shardlab_judge.items.program import ProgramItem

ID = re.compile(r"(\d+)\.(\d+)")
COURSE = pathlib.Path("src", "shardlab_course")


def write(root: pathlib.Path, id: str) -> list[pathlib.Path]:
    """The files that were written or changed.

    Raises:
        ShardlabError: the id is none, its chapter is not there, or it is not the next in its chapter.
    """
    text, chapter = _chapter(root, id)
    folder = root / COURSE / f"ch{chapter:02}"
    there = own.exercises(folder)
    following = f"{chapter}.{max(there, default=0) + 1}"
    if id != following:
        said = "is there already" if id in {f"{chapter}.{number}" for number in there} else "is not the next"
        raise ShardlabError(
            "question-not-next", f"question {id} {said}.", where=f"ID={id}", mend=f"take the next number: ID={following}"
        )
    template = like_its_neighbours(chapter)
    home = folder / f"ex{max(there, default=0) + 1:02}"
    home.mkdir()
    texts = modules(template, chapter, id, f"from shardlab_course.{folder.name}.{home.name} import oracle as of")
    for name, content in texts.items():
        (home / name).write_text(content)
    importlib.invalidate_caches()
    text.write_text(_with_exercise(text.read_text(), template.exercise.format(id=id)))
    return [*(home / name for name in texts), text]


def like_its_neighbours(chapter: int) -> Template:
    """What most exercises of a chapter ask for: a program, one that is written with `shard_map`, or a plain function."""
    items = [item for question in CHAPTERS[chapter] for item in question.items if isinstance(item, ProgramItem)]
    manual = collections.Counter(item.manual for item in items)
    return FUNCTION if not items else MANUAL if manual[True] >= manual[False] else PROGRAM


def generate(root: pathlib.Path, chapter: int) -> Iterator[pathlib.Path]:
    """Bring the chapter's notebook up to date, then its references, for which the solution runs; the files that changed."""
    yield from edition.write(root, [chapter])
    with tempfile.TemporaryDirectory() as cache:
        texts = packaged.packaged(root, Settings(cache=pathlib.Path(cache)), (chapter,))
    for name, text in texts.items():
        (root / COURSE / name).write_text(text)
        yield root / COURSE / name


def _chapter(root: pathlib.Path, id: str) -> tuple[pathlib.Path, int]:
    match = ID.fullmatch(id)
    sources = {int(path.stem[:2]): path for path in edition.chapters(root)}
    if not match or int(match[1]) not in sources:
        mend = f"name a chapter and the next number in it, as in 4.8; chapters: {', '.join(map(str, sources))}."
        raise ShardlabError("unknown-question", f"there is no chapter for a question {id!r}.", where="ID=" + id, mend=mend)
    return sources[int(match[1])], int(match[1])


def _with_exercise(text: str, exercise: str) -> str:
    """The chapter with the exercise after its last one."""
    last = max((m.end() for m in re.finditer(r"^sl\.check\(.*?^```\n", text, re.MULTILINE | re.DOTALL)), default=len(text))
    return text[:last] + exercise + text[last:]


def main(arguments: list[str]) -> int:
    """Write the files and say what comes next; the exit status."""
    root, id = pathlib.Path.cwd(), arguments[0] if len(arguments) == 1 else ""
    try:
        for path in write(root, id):
            print(f"wrote {path.relative_to(root)}")
        print("and, from these:", flush=True)
        for path in generate(root, int(id.partition(".")[0])):
            print(f"wrote {path.relative_to(root)}")
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"next: make it yours, and  make check QUESTION={id}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
