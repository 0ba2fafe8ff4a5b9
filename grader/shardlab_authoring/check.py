"""What a change to one chapter breaks first: its answers, its references, its editions, its numbers in prose.

Run as `python -m shardlab_authoring.check CHAPTER` at the root of the repository (`make check CHAPTER=4`). The answers are
judged in one process, the solution runs in another.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import nbclient.exceptions

from shardlab.errors import ShardlabError
from shardlab_authoring import executed, packaged
from shardlab_course.chapters import CHAPTERS
from shardlab_course.editions import edition
from shardlab_grader.classes.notebook import Settings

ANSWERS = "tests/test_answers.py"


def editions(root: pathlib.Path, chapter: int) -> str:
    """What is wrong with the chapter's files in `notebooks/`; empty if nothing is."""
    stale = edition.stale(root, [chapter])
    return f"{', '.join(path.name for path in stale)}: not what solutions/ generates; run `make notebooks`." if stale else ""


def numbers(root: pathlib.Path, chapter: int) -> str:
    """What is wrong with its numbers in prose, or with its solution."""
    with tempfile.TemporaryDirectory() as folder:
        executed.write(root, pathlib.Path(folder), [chapter])
    return ""


def references(root: pathlib.Path, chapter: int) -> str:
    """Which references are not those of its solution."""
    with tempfile.TemporaryDirectory() as cache:
        texts = packaged.packaged(root, Settings(cache=pathlib.Path(cache)), (chapter,))
    for name, text in texts.items():
        path = root / packaged.FOLDER / name
        kept, found = json.loads(path.read_text()) if path.exists() else {}, json.loads(text)
        costs = found["facts"].items() <= kept.get("facts", {}).items()
        if not costs or kept["programs"] != found["programs"]:
            return f"{packaged.FOLDER / name}: not what the solution costs; run `make references CHAPTERS={chapter}`."
    return ""


def passed(name: str, look: Callable[[pathlib.Path, int], str], chapter: int) -> bool:
    """Look, and say in one line what was found and how long it took."""
    started = time.monotonic()
    try:
        wrong = look(pathlib.Path.cwd(), chapter)
    except (ShardlabError, nbclient.exceptions.CellExecutionError) as error:
        wrong = str(error)
    print(f"{name}: {wrong or 'as they should be'} ({time.monotonic() - started:.0f} s)", flush=True)
    return not wrong


def main(chapter: int) -> int:
    """Look at everything; the exit status."""
    started = time.monotonic()
    asked = " or ".join(question.id for question in CHAPTERS[chapter])
    command = [sys.executable, "-m", "pytest", "-q", "-k", asked, ANSWERS]
    judged = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    looks = (("editions", editions), ("numbers in prose", numbers), ("references", references))
    good = all([passed(name, look, chapter) for name, look in looks])
    said, _ = judged.communicate()
    print(said.rstrip().splitlines()[-1] if judged.returncode == 0 else said)
    print(f"chapter {chapter}: {time.monotonic() - started:.0f} s")
    return int(not good or judged.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
