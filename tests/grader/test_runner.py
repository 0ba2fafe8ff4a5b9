"""The child that runs a notebook, against ordinary, clumsy and hostile notebooks. It runs in real sandboxes."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import shardlens
from shardlab_grader.border.artifact import Recording, read
from shardlab_grader.classes.notebook import Cell, Job, Settings, run, run_ours
from shardlab_grader.sandbox.box import Limits, Outcome, RunScript, cold

pytestmark = pytest.mark.sandbox

SOURCE = pathlib.Path(shardlens.__file__).parent
ANSWER = '''
def record(manifest, namespace, predictions):
    """Stands in for the real one, without JAX: values as they are, calls made."""
    entries = {}
    for item in manifest["items"]:
        if item["kind"] == "calls":
            entries[item["name"]] = {"calls": [{"value": namespace[item["name"]](*call)} for call in item["calls"]]}
        else:
            given = predictions if item["predicted"] else namespace
            entries[item["name"]] = {"value": given[item["name"]]} if item["name"] in given else {"missing": True}
    return {"items": entries}
'''
PREDICTIONS = "GIVEN = {}\ndef predict(question, **values): GIVEN.setdefault(question, {}).update(values)\n"
MANIFESTS: dict[str, Any] = {
    "1.1": {"id": "1.1", "variable": None, "items": [{"name": "a", "kind": "value", "predicted": False}]},
    "1.2": {"id": "1.2", "variable": None, "items": [{"name": "b", "kind": "value", "predicted": False}]},
}
GRADE = Cell("raise SystemError('grade cells are not run')", "1.1")
Run = Callable[..., tuple[Outcome, Recording]]


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A `shardlab` for students that needs no JAX, and of the lens what says where an exception came from."""
    package = tmp_path_factory.mktemp("package") / "shardlab"
    package.mkdir()
    (package / "__init__.py").write_text("__tracebackhide__ = True\n")
    answers = package / "answers"
    answers.mkdir()
    (answers / "__init__.py").touch()
    (answers / "record.py").write_text(ANSWER)
    (answers / "in_the_box.py").write_text(PREDICTIONS)
    lens = package.with_name("shardlens")
    lens.mkdir()
    (lens / "__init__.py").write_text("from shardlens.exceptions import raised_at\n")
    for name in ("errors", "sources", "exceptions"):
        shutil.copy(SOURCE / f"{name}.py", lens / f"{name}.py")
    return package.parent


def left_behind(job: Job, run_script: RunScript = cold) -> tuple[Outcome, Recording]:
    """How a job's run ended, and what is read of it."""
    outcome, output = run(job, run_script)
    assert output is not None
    return outcome, read(output, job.manifests, len(job.cells))


@pytest.fixture
def ran(stand_in: pathlib.Path, run_script: RunScript) -> Run:
    """Runs cells, warm and cold, and reads the recording; keyword arguments are limits, and `manifests`."""

    def start(
        *cells: str | Cell, manifests: Any = MANIFESTS, cell_seconds: float = 30.0, cell_cpu: float = 15.0, **limits: Any
    ) -> Any:
        cache, within = stand_in / "cache", Limits(**limits)
        settings = Settings(
            cache, "bubblewrap", within, cell_seconds=cell_seconds, cell_cpu_seconds=cell_cpu, packages=stand_in
        )
        listed = [Cell(textwrap.dedent(cell)) if isinstance(cell, str) else cell for cell in cells]
        return left_behind(Job("", tuple(listed), manifests, settings), run_script)

    return start


def values(recording: Recording) -> dict[str, Any]:
    """The value of each recorded item, or its whole entry when it has none."""
    entries = {name: entry for answer in recording.answers.values() for name, entry in answer["items"].items()}
    return {name: entry.get("value", entry) for name, entry in entries.items()}


def errors(recording: Recording) -> list[tuple[int, str]]:
    """Cell and type of each error."""
    return [(error.cell, error.type) for error in recording.errors]


def test_answers_are_of_their_moment(ran: Run) -> None:
    """A grade cell records what variables hold there; questions without one are recorded at the end."""
    outcome, recording = ran("a = 1; b = 1", GRADE, "a = 2; b = 2")
    assert values(recording) == {"a": 1, "b": 2}
    assert (outcome.status, recording.ended, recording.errors) == (0, True, ())


def test_cells_that_only_show_are_left_out(ran: Run) -> None:
    """Unless a cell that runs may tell: by name, or by looking around."""
    drawn = Cell("a = 1; raise ValueError", reads=("ValueError",), shows=("a", "b"))
    assert errors(ran("b = 2", drawn, manifests={})[1]) == []
    assert errors(ran("b = 2", drawn, "a", manifests={})[1]) == [(1, "ValueError")]
    assert errors(ran("b = 2", drawn, "globals()", manifests={})[1]) == [(1, "ValueError")]
    assert values(ran("b = 2", drawn)[1]) == {"a": 1, "b": 2}


FINE = {
    "shared": ["x = 1", "assert x == 1"],
    "last-value": ["3 + 4", "assert _ == 7 and Out[1] == 7"],
    "main": ["assert __name__ == '__main__'"],
    "pickled-class": ["class A: pass", "import pickle; pickle.loads(pickle.dumps(A()))"],
    "capture": ["%%capture out\nprint('hi')\ndisplay(3)", "assert out.stdout.startswith('hi')"],
    "shell": ["!true", "lines = !echo hi", "assert lines == ['hi']"],
    "installers": ["%pip install nothing-of-this-name", "!pip install nothing-of-this-name"],
    "exit": ["exit", "exit()", "quit()"],
    "await": ["import asyncio", "await asyncio.sleep(0)"],
    "timed": ["%time x = 1", "%%time\ny = 2", "assert x + y == 3"],
    "inline": ["%matplotlib inline"],
    "display": ["from IPython.display import HTML, clear_output", "clear_output(); display(HTML('x'))"],
    "printing": ["print('x' * 1000)", "import sys; sys.stdout.flush(); sys.stderr.write('x')"],
    "recording": ["import os; assert os.environ['SHARDLAB_RECORD'] == '1'"],
    "arguments": ["import sys; assert len(sys.argv) == 1"],
    "ugly-object": ["class Ugly:\n    def __repr__(self): raise ValueError", "Ugly()"],
}


@pytest.mark.parametrize("cells", FINE.values(), ids=FINE)
def test_runs_like_a_notebook(ran: Run, cells: list[str]) -> None:
    """What works in a notebook works here, without an error."""
    _, recording = ran(*cells, manifests={})
    assert recording.ended and recording.errors == ()


RAISING = {
    "1/0": "ZeroDivisionError",
    "raise SystemExit": "SystemExit",
    "import sys; sys.exit(3)": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "def (": "SyntaxError",
    "  x = 1\n y = 2": "IndentationError",
    "%nothing": "UsageError",
    "def f(): f()\nf()": "RecursionError",
    "input()": "EOFError",
    "x = bytearray(2**40)": "MemoryError",
    "class E(Exception):\n    def __str__(self): raise ValueError\nraise E": "ValueError",
    "import shardlab_course.chapters": "ModuleNotFoundError",
    "import shardlab_grader": "ModuleNotFoundError",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "ConnectionRefusedError",
}


@pytest.mark.parametrize(("source", "kind"), RAISING.items())
def test_errors_are_noted(ran: Run, source: str, kind: str) -> None:
    """An exception is noted with its cell, and the next cells run."""
    outcome, recording = ran("a = 1", source, "a = 2", GRADE)
    assert errors(recording) == [(1, kind)]
    assert (outcome.status, values(recording)["a"]) == (0, 2)


def test_messages_are_cut(ran: Run) -> None:
    """A long message is cut in the child already."""
    _, recording = ran("raise ValueError('x' * 10**6)")
    assert recording.errors[0].message == "x" * 500


ENDLESS = {
    "loop": "while True: pass",
    "sleep": "import time; time.sleep(100)",
    "caught": "while True:\n    try:\n        while True: pass\n    except Exception: pass",
    "shell": "!sleep 100",
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_endless_cell(ran: Run, source: str) -> None:
    """A cell that does not end is interrupted and noted, and the rest goes on."""
    _, recording = ran("a = 1", source, "a = 2", cell_seconds=0.5)
    assert [(e.cell, e.type, e.message) for e in recording.errors] == [(1, "CellTimeout", "did not end within 0.5 s")]
    assert values(recording)["a"] == 2


def test_endless_answer(ran: Run) -> None:
    """A function that does not return costs its own item only."""
    items = [{"name": "f", "kind": "calls", "calls": [[1]]}, {"name": "a", "kind": "value", "predicted": False}]
    source = "def f(x):\n    while True: pass\na = 1"
    _, recording = ran(source, manifests={"1.1": {"id": "1.1", "variable": None, "items": items}}, cell_seconds=0.5)
    # At which part of the line an endless loop is met differs with the Python.
    line = re.compile(r'line 2 of cell "def f\(x\):", in f\n    while True: pass\n {4,10}\^+')
    found = values(recording)
    error = found["f"]["error"]
    assert (error["type"], error["message"], found["a"]) == ("CellTimeout", "did not end within 0.5 s", 1)
    assert line.fullmatch(error["line"])


LOOKED_AT = {
    "message": "def __str__(self): raise KeyError",
    "no-end": "def __str__(self):\n        while True: pass",
    "cause": "__cause__ = property(lambda self: 1 / 0)",
    "context": "__context__ = property(lambda self: exit())",
}


def test_a_cells_error_tells_its_line(ran: Run) -> None:
    """Cells are called by their first line, since a student finds no numbers; the innermost line comes first."""
    raising = "def inner(xs):\n    return [xs[n] for n in range(9)]\ndef outer(): return inner([1])"
    _, recording = ran("a = 1", GRADE, raising, "a = 2\nouter()", "x = (1\n", "sorted(1)")
    lines = {error.cell + 1: error.line for error in recording.errors}
    # Since Python 3.12 the loop of a list is the function's own, and forgets its counter on the way out.
    counter = ", n = 1" if sys.version_info < (3, 12) else ""
    assert lines == {
        4: 'line 2 of cell "def inner(xs):", in inner\n    return [xs[n] for n in range(9)]\n            ^^^^^\n'
        f"with xs = [1]{counter}\n"
        'called in line 3 of cell "def inner(xs):", in outer: def outer(): return inner([1])\n'
        'called in line 2 of cell "a = 2": outer()',
        5: "line 1\n    x = (1\n        ^",
        6: 'line 1 of cell "sorted(1)"\n    sorted(1)\n    ^^^^^^^^^',
    }


def test_a_missing_colon_costs_its_own_function(ran: Run) -> None:
    """What Python can read of a cell runs, with the lines that the cell has, and each fault is told with its caret."""
    cell = "a = 1\ndef f(n)\n    return n\n\nb = 2\nc = [1\nd = a +\n1 / 0"
    _, recording = ran(cell)
    assert values(recording) == {"a": 1, "b": 2}
    assert [(error.type, error.line) for error in recording.errors] == [
        ("SyntaxError", "line 2\n    def f(n)\n            ^"),
        ("SyntaxError", "line 6\n    c = [1\n        ^"),
        ("SyntaxError", "line 7\n    d = a +\n           ^"),
        ("ZeroDivisionError", 'line 8 of cell "a = 1"\n    1 / 0\n    ^^^^^'),
    ]


def test_time_that_a_cell_computes_is_not_time_that_it_waits(ran: Run) -> None:
    """An endless loop is ended by the limit of CPU time, of which a cell that waits for longer uses little."""
    _, recording = ran("import time; time.sleep(1.0); a = 1", "while True: pass", "a = 3", cell_cpu=0.6)
    assert [(e.cell, e.message) for e in recording.errors] == [(1, "did not end within 0.6 s of CPU time")]
    assert values(recording)["a"] == 3 and recording.ended


@pytest.mark.parametrize("body", LOOKED_AT.values(), ids=LOOKED_AT)
def test_errors_that_fight_back(ran: Run, body: str) -> None:
    """An exception that raises or does not end when it is looked at costs its own words, and the rest goes on."""
    _, recording = ran(f"class E(Exception):\n    {body}\nraise E", "a = 3", cell_seconds=0.5)
    assert [error.cell for error in recording.errors] == [0]
    assert values(recording)["a"] == 3 and recording.ended


@pytest.mark.parametrize(
    "body",
    ["1 / 0", "exit()", "[0 for _ in iter(int, 1)]"],
    ids=["raises", "exits", "no-end"],
)
def test_values_that_fight_back(ran: Run, body: str) -> None:
    """A value on the line that raised, or the name of what is not there, may run code when it is looked at: as above."""
    value = f"class V:\n    __module__ = 'numpy'\n    aval = property(lambda self: {body})\nv = V()\nv + 1"
    name = f"class E(AttributeError):\n    obj = property(lambda self: {body})\nraise E"
    _, recording = ran(value, name, "a = 3", cell_seconds=0.5)
    assert [error.cell for error in recording.errors] == [0, 1]
    assert values(recording)["a"] == 3 and recording.ended


def test_a_line_of_escapes(ran: Run) -> None:
    """Whatever stands in the line that raised, and however long it is, a page gets a few short lines of printable text."""
    _, recording = ran("x = 1; raise ValueError  # \x1b[2J\u202e\t" + "y" * 10**5)
    (error,) = recording.errors
    assert (
        len(error.line) < 300 and all(c.isprintable() or c == "\n" for c in error.line) and "raise ValueError" in error.line
    )


def test_predictions(ran: Run) -> None:
    """What was predicted is recorded, under its item."""
    item = {"name": "p", "kind": "value", "predicted": True}
    cells = ["from shardlab.answers.in_the_box import predict", "predict('1.1', p=3)"]
    _, recording = ran(*cells, manifests={"1.1": {"id": "1.1", "variable": None, "items": [item]}})
    assert values(recording) == {"p": 3}


UNREADABLE = {
    "nan": ("float('nan')", "ValueError"),
    "object": ("object()", "TypeError"),
    "large": ("'x' * 2**23", "ValueError"),
    "cycle": ("[]; a.append(a)", "ValueError"),
}


@pytest.mark.parametrize(("source", "kind"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_answers(ran: Run, source: str, kind: str) -> None:
    """An answer that cannot be written costs itself only."""
    _, recording = ran(f"a = {source}", "b = 2")
    assert values(recording)["a"]["error"]["type"] == kind
    assert values(recording)["b"] == 2


DEATHS = {
    "exit": ("import os; os._exit(7)", "exit status 7"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "SIGSEGV: Segmentation fault"),
    "time": ("import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: pass", "time limit of 6 s"),
    "flood": ("import os\nwhile True: os.write(2, b'x' * 10000)", "more than 1 MB printed"),
}


@pytest.mark.parametrize(("source", "ending"), DEATHS.values(), ids=DEATHS)
def test_death_keeps_what_was_recorded(ran: Run, source: str, ending: str) -> None:
    """What was recorded before the end stays, and the cell of the end is known; while there is time, what follows runs."""
    timed = ending.startswith("time limit")  # the others have time to go on, however busy the machine is
    limits = {"wall": 6.0, "cell_seconds": 0.5} if timed else {}
    outcome, recording = ran("a = 1; b = 1", GRADE, source, "b = 2", printed=2**20, **limits)
    assert values(recording)["a"] == 1
    if timed:
        assert (outcome.ending, recording.cell, recording.ended) == (ending, 2, False)
    else:
        ((cell, message),) = ((error.cell, error.message) for error in recording.errors)
        assert (cell, message) == (2, f"this cell ended the run ({ending}); what follows ran without it")
        assert recording.ended and values(recording)["b"] == 2


def test_threads_do_not_hold_the_end(ran: Run) -> None:
    """A sleeping thread and an exit hook do not delay the end."""
    hook = "import atexit, time; atexit.register(time.sleep, 500)"
    outcome, recording = ran("import threading, time; threading.Thread(target=time.sleep, args=(500,)).start()", hook)
    assert recording.ended and outcome.seconds < 400


def test_forged_lines(ran: Run) -> None:
    """A notebook that writes into the output file itself wins nothing but its own answers."""
    source = """
        with open("/box/output", "w") as output:
            output.write('{"question": "1.1", "item": "a", "entry": {"points": 100}}\\n{"verdict": {"status": "passed"}}\\n')
    """
    _, recording = ran("a = 1", source, GRADE)
    assert values(recording)["a"]["error"]["type"] == "AnswerRefused"
    assert "a line has fields that are not in the protocol" in recording.faults


def test_compiled_programs_are_ours(stand_in: pathlib.Path, tmp_path: pathlib.Path, run_script: RunScript) -> None:
    """What a solution's run compiles is kept, and a student's run can read it and not change it."""
    settings = Settings(tmp_path / "cache", packages=stand_in)
    place = "import os; place = os.environ['JAX_COMPILATION_CACHE_DIR']"
    cells = [Cell(place), Cell("open(f'{place}/entry', 'w').write('1')")]
    _, output = run_ours(Job("", tuple(cells), {}, settings))
    assert read(output or b"", {}, 2) == Recording({}, cell=1, ended=True)
    cells += [Cell("assert open(f'{place}/entry').read() == '1' and os.listdir(place) == ['entry']")]
    _, recording = left_behind(Job("", tuple(cells), {}, settings), run_script)
    assert [(error.cell, error.message[:36]) for error in recording.errors] == [(1, "[Errno 30] Read-only file system: '/")]


def test_a_students_run_compiles_quickly(ran: Run) -> None:
    """By JAX's own switch, and by no flag of XLA's: these change what a cell reads of a program's memory."""
    _, recording = ran(
        "import os", "assert os.environ['JAX_DISABLE_MOST_OPTIMIZATIONS'] == '1' and 'XLA_FLAGS' not in os.environ"
    )
    assert recording.errors == ()


def test_without_a_sandbox(ran: Run, stand_in: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Mode `none` leaves the same behind."""
    settings = Settings(tmp_path / "cache", packages=stand_in, mode="none")
    cells = (Cell("a = 1"), Cell("import shardlab.answers.record"))
    _, recording = left_behind(Job("", cells, MANIFESTS, settings))
    assert values(dataclasses.replace(recording)) == {"a": 1, "b": {"missing": True}}


@pytest.mark.notebook
def test_real_answers(tmp_path: pathlib.Path, run_script: RunScript) -> None:
    """With the real student package a program is exported for eight devices that the notebook did not ask for."""
    case = {"axes": [["x", 8]], "explicit": False, "inputs": [{"shape": [8], "spec": ["x"], "dtype": "float32"}]}
    item = {"name": "answer", "kind": "program", "cases": [case]}
    cells = [Cell("import shardlab as sl"), Cell("def answer(mesh, x): return x * 2"), Cell("sl.check('1.1', answer)")]
    manifests = {"1.1": {"id": "1.1", "variable": None, "items": [item]}}
    _, recording = left_behind(Job("", tuple(cells), manifests, Settings(tmp_path / "cache")), run_script)
    assert recording.errors == ()
    assert list(values(recording)["answer"]["programs"][0]) == ["module", "outputs", "lines"]
