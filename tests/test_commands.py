"""The commands of CONTRIBUTING and of the authoring guide, in a fresh copy of the repository with an environment of its own.

What takes minutes there is asked what it would do: make by `-n`, pytest by `--collect-only`, our command line by `--help`.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAGES = ROOT / "CONTRIBUTING.md", ROOT / "jupyter_book" / "authoring.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:make|\.venv/bin/python) [^`]+)`")
RUNS = (
    "make help",
    "make lint",
    "make notebooks",
    "make numbers CHAPTERS=4",
    "make check QUESTION=4.2",
    "make check CHAPTER=4",
    "make references notebooks CHAPTERS=4",
    "make new-question ID=4.8",
)
"""What is run as it stands, in this order: the last leaves an exercise that the chapter does not count yet."""
FAULTS = {
    "solutions/04_four_matmul_cases.md": ("65,536", "65,537"),
    "src/shardlab_course/ch04/shared.py": ("", "\nFAULT: int = 'no number'  # " + "long " * 24 + "\n" + "#\n" * 400),
}
TOLD = {
    "a number in prose": "04_four_matmul_cases.md: 65,537   is not on the page",
    "a long line": "E501 Line too long",
    "a type of Python": 'Incompatible types in assignment (expression has type "str", variable has type "int")',
    "a long module": "test_module_is_small[shardlab_course.ch04.shared]",
    "an edition": "test_notebooks_are_fresh[4]",
}

pytestmark = [pytest.mark.thorough, pytest.mark.notebook, pytest.mark.sandbox]


def commands() -> list[str]:
    """Each command of ours, without its comment, in the order of the pages."""
    texts = [page.read_text() for page in PAGES]
    lines = [line for text in texts for block in BLOCK.findall(text) for line in block.splitlines()]
    found = [line.split("  #")[0].strip() for line in lines] + [line for text in texts for line in INLINE.findall(text)]
    ours = [
        line for line in found if line.startswith(("make ", ".venv/bin/python ", "shardlab-grader ")) and "..." not in line
    ]
    return list(dict.fromkeys(ours))


def question(command: str) -> str:
    """What is run in place of a command that takes minutes."""
    first, *others = shlex.split(command)
    if first == "make":  # with the Python that is here: the other lane's need not be
        return shlex.join(["make", "-n", *(word for word in others if not word.startswith("PYTHON="))])
    if first == "shardlab-grader":
        return shlex.join([".venv/bin/shardlab-grader", others[0], "--help"])
    return f"{command} --collect-only -q" if "pytest" in others else command


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The repository's files, as git has or would take them, with what `make` installs for developers."""
    folder = tmp_path_factory.mktemp("clone") / "shardlab"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    assert run(folder, "make .venv/.installed")[0] == 0
    return folder


def run(folder: pathlib.Path, command: str) -> tuple[int, str]:
    """How a command ends, and what it prints, where nothing of this environment is set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "MAKE", "PYTEST_", "PYTHON"))}
    ran = subprocess.run(
        command, shell=True, cwd=folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ran.returncode, ran.stdout


def test_what_is_run_is_written() -> None:
    """Nothing is run here that the pages do not say."""
    assert set(RUNS) - set(commands()) == set()


@pytest.mark.parametrize("command", [*(c for c in commands() if c not in RUNS), *RUNS])
def test_a_command_works(clone: pathlib.Path, command: str) -> None:
    """It ends well, and leaves what git has as it was."""
    status, said = run(clone, command if command in RUNS else question(command))
    assert status == 0, said


def test_an_exercise_is_watched(clone: pathlib.Path) -> None:
    """It is looked at when the command starts, and again when its solution is saved, with what is wrong then."""
    answers = clone / "solutions" / "00_first_light.md"
    command = [".venv/bin/python", "-m", "shardlab_authoring.check", "--question", "0.1", "--watch"]
    before = answers.read_text()
    watching = subprocess.Popen(command, cwd=clone, stdout=subprocess.PIPE, text=True)
    try:
        assert "passed" in told_once(watching)
        answers.write_text(before.replace('order = ["import", "ask"', 'order = ["ask", "import"', 1))
        assert " failed" in told_once(watching)
    finally:
        answers.write_text(before)
        watching.terminate()
        watching.communicate()


def told_once(watching: subprocess.Popen[str]) -> str:
    """What is printed up to the line that ends a look."""
    lines = list(itertools.takewhile(lambda line: not line.startswith("exercise "), watching.stdout))
    return "".join(lines)


def test_faults_are_told(clone: pathlib.Path) -> None:
    """One look at the chapter finds all of them."""
    kept = {name: (clone / name).read_text() for name in FAULTS}
    for name, (old, new) in FAULTS.items():
        assert old in kept[name]
        (clone / name).write_text(kept[name].replace(old, new, 1) if old else kept[name] + new)
    status, said = run(clone, "make check CHAPTER=4")
    assert status != 0 and {fault for fault, told in TOLD.items() if told not in said} == set(), said
