"""From cells to verdicts: the sandbox, the border and the expendable judge together, with a stand-in for the course."""

from __future__ import annotations

import dataclasses
import errno
import os
import pathlib
import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest

import shardlab
from shardlab.errors import ShardlabError
from shardlab_grader.border import artifact
from shardlab_grader.classes import notebook, stages
from shardlab_grader.classes.jobs import run_all
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.classes.stages import Graded
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox import mounts
from shardlab_grader.sandbox.box import Limits, RunScript
from shardlab_grader.sandbox.servers import Servers
from shardlab_grader.sandbox.student_package import student_package
from where import names_in_tmp

pytestmark = pytest.mark.sandbox

SOURCE = pathlib.Path(shardlab.__file__).parents[1]
STAND_IN = {
    "shardlab/__init__.py": "",
    "shardlab/answers/__init__.py": "",
    "shardlab/answers/in_the_box.py": "GIVEN = {}",
    "shardlab/answers/record.py": """
def record(manifest, namespace, predictions):
    name = manifest["items"][0]["name"]
    if callable(namespace.get(name)):
        namespace[name]()
    return {"items": {name: {"value": namespace[name]} if name in namespace else {"missing": True}}}
""",
    "shardlab_judge/__init__.py": "",
    "shardlab_judge/items/program.py": "judge_program = None",
    "shardlab_judge/causes/__init__.py": "",
    "shardlab_judge/judging.py": """
import os, pathlib, time
from shardlab_judge.verdict import Part, Verdict

def judge(question, answer, references, seed, judge_one):
    value = answer["items"]["a"].get("value")
    match value:
        case "crash": os.kill(os.getpid(), 11)
        case "hang": time.sleep(100)
        case "bug": raise RuntimeError("no such reference")
        case "error": value = answer["items"]["a"]["error"]["message"]
        case "look": value = [references, seed, os.path.exists("/trusted/shardlab_course/chapters.py"), os.listdir("/tmp")]
    right = value == question.items[0].key
    parts = (Part("a", "V", question.points * right, question.points),)
    return Verdict(question.id, "passed" if right else "failed", parts, reason=str(value))
""",
    "shardlab_judge/references.py": """
class References:
    @staticmethod
    def load(path=None):
        return path and path.read_text()
""",
    "shardlab_course/__init__.py": "",
    "shardlab_course/chapters.py": """
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
QUESTIONS = {id: Question(id, "", (ValueItem("a", {"V": 2.0}, key=1),), 1, 1, ("",) * 3, "") for id in ("1.1", "1.2", "1.3")}
reference_of = lambda id: None
""",
}
MANIFESTS: dict[str, Any] = {
    id: {"id": id, "variable": None, "items": [{"name": "a", "kind": "value", "predicted": False}]}
    for id in ("1.1", "1.2", "1.3")
}
NUMBERS = [Cell("a = 1"), Cell("", "1.1"), Cell("a = 2"), Cell("", "1.2"), Cell("a = 1"), Cell("", "1.3")]
Grade = Callable[..., Graded]


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A directory of packages whose judge needs no JAX and does as the answers say."""
    package = tmp_path_factory.mktemp("package") / "site"
    for name, source in STAND_IN.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(source)
    needed = (
        "cases",
        "costs",
        "domain",
        "findings",
        "question",
        "responses",
        "verdict",
        "items/__init__",
        "items/value",
        "causes/exceptions",
    )
    judge = (f"shardlab_judge/{name}" for name in needed)
    for name in ("shardlab/errors", *judge):
        shutil.copy(SOURCE / f"{name}.py", package / f"{name}.py")
    return package


@pytest.fixture
def settings(stand_in: pathlib.Path) -> Settings:
    """Short limits."""
    return Settings(
        stand_in.parent / "cache",
        packages=stand_in,
        notebook=Limits(wall=20),
        judge=Limits(wall=20),
        question_seconds=1.0,
        question_wall_seconds=1.0,
        seed=7,
    )


@pytest.fixture
def grade(settings: Settings, run_script: RunScript) -> Grade:
    """Grades cells, warm and cold; keyword arguments change the settings."""

    def start(*cells: Cell, **changes: Any) -> Graded:
        changed = dataclasses.replace(settings, **changes)
        return stages.grade(Job("", cells, MANIFESTS, changed), Shared(run_script))

    return start


def statuses(graded: Graded) -> list[str]:
    """Status of each question in order."""
    return [verdict.status for verdict in graded.verdicts.values()]


def answers(*values: Any) -> list[Cell]:
    """Cells that answer 1.1, 1.2, 1.3 with these values."""
    return [cell for id, value in zip(MANIFESTS, values) for cell in (Cell(f"a = {value!r}"), Cell("", id))]


def test_a_notebook_is_graded(grade: Grade) -> None:
    """Verdicts come in the course's order, with points and times."""
    graded = grade(*NUMBERS)
    assert [(v.status, v.points) for v in graded.verdicts.values()] == [("passed", 2.0), ("failed", 0.0), ("passed", 2.0)]
    assert (graded.errors, graded.limits_hit, graded.mode, list(graded.seconds)) == (
        (),
        (),
        "bubblewrap",
        ["notebook", "judge"],
    )


def test_a_release_says_what_questions_are_worth(grade: Grade) -> None:
    """The judge gives the points of the release, whatever the course's declarations give by now."""
    graded = grade(*NUMBERS, points={"1.1": 0.5, "1.2": 7.0})
    assert [(v.points, v.of) for v in graded.verdicts.values()] == [(0.5, 0.5), (0.0, 7.0), (2.0, 2.0)]


@pytest.mark.usefixtures("without_servers")
def test_without_a_sandbox(grade: Grade) -> None:
    """Mode `none` gives the same verdicts and says that it was used."""
    graded = grade(*NUMBERS, mode="none")
    assert (statuses(graded), graded.mode) == (["passed", "failed", "passed"], "none")


def test_the_judge_sees_what_it_needs(grade: Grade, tmp_path: pathlib.Path) -> None:
    """The judge has the references, the seed and the questions, and an empty scratch space."""
    (tmp_path / "references").write_text("R")
    graded = grade(*answers("look"), references=tmp_path / "references")
    assert graded.verdicts["1.1"].reason == f"['R', 7, True, {names_in_tmp()}]"


FATAL = {"crash": "SIGSEGV: Segmentation fault", "hang": "limit of 1 s"}


@pytest.mark.thorough
@pytest.mark.parametrize(("value", "ending"), FATAL.items())
def test_fatal_program(grade: Grade, value: str, ending: str) -> None:
    """A program that kills or holds the judge fails, and the questions after it are judged."""
    graded = grade(*answers(1, value, 1))
    assert statuses(graded) == ["passed", "failed", "passed"]
    verdict = graded.verdicts["1.2"]
    assert [f.what for f in verdict.findings] == [
        f"The program was too large, or did not end, while it was judged ({ending})."
    ]
    assert (verdict.points, verdict.of, graded.limits_hit) == (0.0, 2.0, (f"judge of 1.2: {ending}",))


def test_bug_in_the_judge(grade: Grade) -> None:
    """An exception of our own code leaves its question ungraded, and only that."""
    graded = grade(*answers(1, "bug", 1))
    assert statuses(graded) == ["passed", "ungraded", "passed"]
    assert graded.verdicts["1.2"].reason == "The judge failed: RuntimeError: no such reference"


@pytest.mark.usefixtures("without_servers")
def test_judge_that_does_not_start(grade: Grade, stand_in: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """When the judge cannot be imported nobody fails."""
    broken = tmp_path / "broken"
    shutil.copytree(stand_in, broken)
    (broken / "shardlab_judge" / "judging.py").write_text("raise ImportError('broken')")
    graded = grade(*NUMBERS, packages=broken)
    assert statuses(graded) == ["ungraded"] * 3
    assert graded.verdicts["1.1"].reason.startswith("The judge did not start (exit status 1): ")
    assert graded.verdicts["1.1"].reason.endswith("ImportError: broken")


@pytest.mark.usefixtures("without_servers")
def test_runner_that_does_not_start(grade: Grade, stand_in: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """When the student package cannot be imported nobody fails."""
    broken = tmp_path / "broken"
    shutil.copytree(stand_in, broken)
    (broken / "shardlab" / "answers" / "record.py").write_text("raise ImportError('broken')")
    graded = grade(*NUMBERS, packages=broken)
    assert statuses(graded) == ["ungraded"] * 3
    assert graded.verdicts["1.1"].reason.endswith("ImportError: broken")


@pytest.mark.parametrize("run_script", [sandbox.cold, Servers().run], ids=["cold", "warm"])
def test_sandbox_that_does_not_start(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox nobody fails, and nothing is run outside one."""
    monkeypatch.setattr(sandbox, "tool", mounts.tool.__wrapped__)
    monkeypatch.setattr(mounts.shutil, "which", lambda name, path: None)
    graded = grade(*NUMBERS)
    assert statuses(graded) == ["ungraded"] * 3
    assert graded.verdicts["1.1"].reason.startswith("The sandbox did not start: [sandbox-unavailable]")


@pytest.mark.thorough
def test_notebook_that_does_not_finish(grade: Grade) -> None:
    """What was recorded before the end is judged, and the rest fails with the reason."""
    endless = Cell("import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: pass")
    graded = grade(*NUMBERS[:2], endless, *NUMBERS[2:], notebook=Limits(wall=6), cell_seconds=0.5)
    assert statuses(graded) == ["passed", "failed", "failed"]
    assert graded.verdicts["1.3"].findings[0].what == (
        'Your notebook did not finish: time limit of 6 s at cell "while True:".'
    )
    assert graded.limits_hit == ("notebook: time limit of 6 s",)


ENDINGS = {
    "leaves": ("import os; os._exit(0)", "exit status 0"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "SIGSEGV: Segmentation fault"),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("end", "ending"), ENDINGS.values(), ids=ENDINGS)
def test_what_follows_a_death_counts(grade: Grade, end: str, ending: str) -> None:
    """The run goes on without the cell that ended it, and says so at this cell."""
    graded = grade(*NUMBERS[:2], Cell(end), *NUMBERS[2:])
    assert statuses(graded) == statuses(grade(*NUMBERS))
    (error,) = (error for error in graded.errors if error.cell == 2)
    assert error.message == f"this cell ended the run ({ending}); what follows ran without it"


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("moved", [False, True])
def test_an_answer_that_ends_the_run_costs_itself_alone(moved: bool, settings: Settings, run_script: RunScript) -> None:
    """Also where its grade cell was moved before it, so that it is asked for after all others."""
    manifests = {id: {**one, "items": [{**one["items"][0], "name": f"a{id[-1]}"}]} for id, one in MANIFESTS.items()}
    asked, defined = [Cell("", id) for id in manifests], [Cell("def a1(): import os; os._exit(3)"), Cell("a2 = 7\na3 = 1")]
    cells = (*asked, *defined) if moved else (*defined, *asked)
    _, output = notebook.run(Job("", cells, manifests, settings), run_script)
    recording = artifact.read(output or b"", manifests, len(cells))
    assert recording.ended and sorted(recording.answers) == ["1.2", "1.3"]
    (error,) = recording.errors
    assert error.message == "taking this answer ended the run (exit status 3); what follows ran without it"
    assert cells[error.cell].question == "1.1"


def test_deaths_without_end(grade: Grade) -> None:
    """Four cells that end the run are one more than it goes on without."""
    deaths = [Cell("import os; os._exit(0)") for _ in range(4)]
    graded = grade(*NUMBERS[:2], *deaths, *NUMBERS[2:])
    assert statuses(graded) == ["passed", "failed", "failed"]
    assert 'did not finish: exit status 0 at cell "import os; os._exit(0)"' in graded.verdicts["1.3"].findings[0].what


def test_cell_that_does_not_end(grade: Grade) -> None:
    """A cell at its limit is reported, and costs nothing else."""
    graded = grade(Cell("while True: pass"), *NUMBERS, cell_seconds=0.5)
    assert statuses(graded) == ["passed", "failed", "passed"]
    assert graded.limits_hit == ('did not end within 0.5 s (cell "while True: pass")',)


def test_refused_answer(grade: Grade) -> None:
    """An answer that the border refuses reaches the judge as an error with the reason."""
    graded = grade(*answers("x" * 10_001))
    assert (graded.verdicts["1.1"].status, graded.verdicts["1.1"].reason) == ("failed", "None")


EMPTIED = {
    "exit": ("os._exit(0)", "exit status 0"),
    "imitation": ("os.write(2, b'ImportError: broken'); os._exit(1)", "exit status 1"),
    "crash": ("os.kill(os.getpid(), 11)", "SIGSEGV: Segmentation fault"),
}


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(("end", "ending"), EMPTIED.values(), ids=EMPTIED)
def test_emptied_output(grade: Grade, end: str, ending: str) -> None:
    """A notebook that wipes out its own recording fails: the fault was not on our side, whatever it pretends."""
    graded = grade(Cell(f"import os; os.truncate('/box/output', 0); {end}"), *NUMBERS)
    assert statuses(graded) == ["failed"] * 3
    assert graded.verdicts["1.1"].findings[0].what == f"Your notebook's run left nothing to read ({ending})."


def test_what_the_judge_says_is_printable(grade: Grade) -> None:
    """No control character of a student's passes from the judge to a page or a terminal."""
    graded = grade(Cell("a = 'red \\x1b[31m and \\u202e back'"), Cell("", "1.1"))
    assert graded.verdicts["1.1"].reason == "red \ufffd[31m and \ufffd back"


def test_full_disk_stops_the_class(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is called ungraded because the grader had no room."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/box")

    monkeypatch.setattr(notebook.tempfile, "TemporaryDirectory", full)
    with pytest.raises(ShardlabError, match="disk-full"):
        list(run_all([Job("1", tuple(NUMBERS), MANIFESTS, settings)], workers=1))


def test_a_class(settings: Settings) -> None:
    """Every job comes back under its key, one that breaks the grader included."""
    good = [Job(str(n), tuple(answers(n)), MANIFESTS, settings) for n in range(3)]
    unusable = dataclasses.replace(settings, seed=object())  # type: ignore[arg-type]
    bad = dataclasses.replace(good[0], key="bad", settings=unusable)
    graded = {job.key: verdicts for job, verdicts in run_all([*good, bad], workers=2)}
    assert [graded[key].verdicts["1.1"].status for key in ("0", "1", "2", "bad")] == [
        "failed",
        "passed",
        "failed",
        "ungraded",
    ]
    assert graded["bad"].verdicts["1.1"].reason.startswith("The grader failed: TypeError")


def test_a_broken_off_class(settings: Settings) -> None:
    """When the caller stops, for instance at Ctrl-C, running sandboxes are killed and no further one starts."""
    quick, slow = Job("quick", (), MANIFESTS, settings), (Cell("import time; time.sleep(500)"),)
    graded = run_all([quick, *(Job(str(n), slow, MANIFESTS, settings) for n in range(5))], workers=2)
    assert next(graded)[0].key == "quick"
    started = time.monotonic()
    graded.close()
    assert time.monotonic() - started < 300


def test_student_package_holds_no_keys(tmp_path: pathlib.Path) -> None:
    """It is the helper, the lens and an empty folder: a package that lies beside them is not in it."""
    site = tmp_path / "site"
    shutil.copytree(SOURCE / "shardlab", site / "shardlab", ignore=shutil.ignore_patterns("__pycache__"))
    for beside in ("shardlab_judge", "shardlab_course", "shardlab_new"):
        (site / beside).mkdir()
        (site / beside / "__init__.py").write_text("KEY = 42")
    package = student_package(tmp_path / "cache", site)
    assert {path.name for path in package.iterdir()} == {"shardlab", "shardlens", "nothing"}
    assert not list((package / "nothing").iterdir())
    names = {path.stem for path in package.rglob("*")}
    assert names.isdisjoint({"questions", "judging", "references", "oracles", "measuring"})
    assert {"in_the_box", "record", "placement"} <= names


def test_student_package_is_made_once(tmp_path: pathlib.Path, stand_in: pathlib.Path) -> None:
    """The same content gives the same directory; another content another one."""
    source = tmp_path / "source"
    shutil.copytree(stand_in, source)
    first = student_package(tmp_path / "cache", source)
    (source / "shardlab_judge" / "judging.py").write_text("changed, but not given to students")
    assert student_package(tmp_path / "cache", source) == first
    (source / "shardlab" / "answers" / "record.py").write_text("changed = 1")
    assert student_package(tmp_path / "cache", source) != first
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == sorted(
        [first.name, student_package(tmp_path / "cache", source).name]
    )


def test_a_package_beside_the_laboratory_is_not_seen(grade: Grade, stand_in: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """What lies beside the laboratory where it is installed is not there in the box, on any path."""
    site = tmp_path / "site"
    shutil.copytree(stand_in, site)
    (site / "shardlab_new").mkdir()
    (site / "shardlab_new" / "__init__.py").touch()
    seen = "a = [n for n in ('shardlab_new', 'shardlab_judge', 'shardlab_course') if importlib.util.find_spec(n)]"
    graded = grade(Cell(f"import importlib.util\n{seen}\nif a: raise SystemError(a)\na = 1"), Cell("", "1.1"), packages=site)
    assert statuses(graded)[0] == "passed", graded


def test_installed_packages_are_covered(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Packages of ours inside the mounted environment are covered by an empty folder, keys and all."""
    home = pathlib.Path(notebook.interpreter()[0].target)
    there = {home / "shardlab", home / "shardlab_course"}
    monkeypatch.setattr(notebook, "installed", lambda: home)
    monkeypatch.setattr(pathlib.Path, "is_dir", lambda path: path in there or os.path.isdir(path))
    mounts = {mount.target: mount.source for mount in notebook.student_sandbox(settings).mounts}
    for path in there:
        assert list(mounts[str(path)].iterdir()) == []
