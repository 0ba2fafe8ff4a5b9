"""What a change breaks first: of a chapter most that belongs to it, in about a minute; of an exercise its causes, sooner.

Run as `python -m shardlab_authoring.check --chapter 4` or `--question 4.2` at the root of the repository (`make check
CHAPTER=4`, `make check QUESTION=4.2`). With `--watch` the exercise is looked at again each time one of its files is saved.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from shardlab.errors import ShardlabError
from shardlab_authoring import exercise
from shardlab_course.chapters import CHAPTERS, QUESTIONS, folder

# What is wrong; empty if nothing is.
Look = Callable[[pathlib.Path, int], str]
PYTEST = "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"
ANSWERS = "tests/test_answers.py"
BESIDE = "tests/test_claims.py", "tests/test_prose.py", "tests/test_course.py", "tests/test_rooms.py"


def answers(root: pathlib.Path, chapter: int) -> str:
    """Which references do not get their points, and which causes are not told of the first answer that is due them."""
    return told(root, *PYTEST, "--chapter", str(chapter), "-m", "not thorough", ANSWERS)


def page(root: pathlib.Path, chapter: int) -> str:
    """Which cell of its solution raises, which number in its prose differs, and what the prose quotes in vain."""
    with tempfile.TemporaryDirectory() as made:
        return told(root, "-m", "shardlab_authoring.executed", made, str(chapter))


def beside(root: pathlib.Path, chapter: int) -> str:
    """What is wrong with its claims, those for TPUs aside, with its prose, its editions and its modules."""
    return told(root, *PYTEST, "--chapter", str(chapter), "-m", "not sandbox and not tpu and not programs", *BESIDE)


def references(root: pathlib.Path, chapter: int) -> str:
    """Which references are not those of its solution; what equal programs cost is not measured again."""
    from shardlab_authoring import packaged
    from shardlab_grader.classes.notebook import Settings

    with tempfile.TemporaryDirectory() as cache:
        settings = Settings(cache=pathlib.Path(cache))
        differ = packaged.differ(root, settings, chapter)
    return f"{differ}: not what the solution is; run `make references CHAPTERS={chapter}`." if differ else ""


def types(root: pathlib.Path, chapter: int) -> str:
    """What mypy says of its modules; it keeps what it has read, so the first time takes longest."""
    return told(root, "-m", "mypy", str(folder(chapter).relative_to(root)))


def style(root: pathlib.Path, chapter: int) -> str:
    """What ruff says of its files."""
    own = [folder(chapter), root / "tests" / "claims" / f"{chapter:02}.py"]
    files = [str(path.relative_to(root)) for path in own if path.exists()]
    said = told(root, "-m", "ruff", "check", "--quiet", *files), told(root, "-m", "ruff", "format", "--check", *files)
    return "\n".join(filter(None, said))


# In the order in which they start, the longest first.
LOOKS: dict[str, Look] = {
    "its references and causes": answers,
    "the page as it runs": page,
    "what it claims, says and imports": beside,
    "what is kept of its programs": references,
    "its types": types,
    "its style": style,
}


def told(root: pathlib.Path, *arguments: str) -> str:
    """What a module of Python says when it fails."""
    environment = os.environ | exercise.ENVIRONMENT
    ran = subprocess.run([sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True)
    return (ran.stdout + ran.stderr).rstrip() or f"it ended with {ran.returncode}" if ran.returncode else ""


def looked(name: str, root: pathlib.Path, chapter: int) -> bool:
    """Look, and say in one line what was found and how long it took; whether all is well."""
    started = time.monotonic()
    try:
        wrong = LOOKS[name](root, chapter)
    except ShardlabError as error:
        wrong = str(error)
    seconds = f"({time.monotonic() - started:.0f} s)"
    print(f"{name}: {'not ' * bool(wrong)}as it should be {seconds}\n{wrong}".rstrip(), flush=True)
    return not wrong


def whole(root: pathlib.Path, chapter: int) -> bool:
    """Look at everything of a chapter, on every core; whether all is well."""
    with concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
        return all(list(pool.map(lambda name: looked(name, root, chapter), LOOKS)))


def main(arguments: Sequence[str]) -> int:
    """Look at what is asked for; the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--chapter", type=int, choices=list(CHAPTERS), metavar="4", help="all of this chapter")
    asked.add_argument("--question", choices=list(QUESTIONS), metavar="4.2", help="the answers to this exercise")
    parser.add_argument("--watch", action="store_true", help="look again each time a file of the exercise is saved")
    given, root, started = parser.parse_args(arguments), pathlib.Path.cwd(), time.monotonic()
    if given.question:
        return exercise.watch(root, given.question) if given.watch else exercise.look(root, given.question)
    good = whole(root, given.chapter)
    print(f"chapter {given.chapter}: {time.monotonic() - started:.0f} s")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
