"""The child in the sandbox: runs a notebook's code cells and writes down the answers at its grade cells.

    python -P runner.py JOB OUTPUT

It imports the standard library, IPython, the laboratory and what is mounted beside it, nothing else of ours. Nothing that it
says is believed: the student's code runs in the same process. It only has to be right about honest notebooks.

JOB is JSON: `cells`, as `shardlab_grader.classes.notebook.Cell` has them; `manifests`, from question id to its manifest;
`cell_seconds` and `cell_cpu_seconds`, what one cell or one item's answer may take; `answer_bytes`, the most that one item's
entry may take.

A cell with a question is a grade cell: its source is not executed, and the question's answer is taken there from the
variables of that moment. Questions without a grade cell, and items whose variable is not there yet, are asked after the
last cell. Given cells that only show something are left out where no answer can tell. All other cells are executed as in a
notebook, with one namespace, magics and shell commands; what they display is thrown away, and after an exception the next
cell runs. Of a cell that Python cannot read, what can be read of it runs.

`started` on standard output, which is closed then, says that all was well on our side; whatever happens after it is the
notebook's own doing.

OUTPUT is JSON lines, each written whole before the next step starts, so that a death loses nothing that was written before:

    {"cell": 3}                                             the cell with this index, from 0, is reached; or in the end what
                                                            its question has not been answered with yet is asked
    {"error": {"cell": 3, "type": text, "message": text, "line": text}}
                                                            it raised; or it did not end in time: type `CellTimeout`
    {"question": "4.2", "item": name, "entry": {...}}       one item's answer, as `shardlab.answers.record.record` makes it
    {"end": true}                                           everything was run and asked

Environment: XLA shows 8 CPU devices, `SHARDLAB_RECORD=1`, matplotlib draws nothing, pip finds no index.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

MESSAGE = 500
ERRORS = 200
"""Exceptions that are told of one notebook."""
UNREAD = 3
"""Statements that cannot be read, told of one cell."""
STARTED = b"started\n"
MISSING = {"missing": True}
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "JAX_NUM_CPU_DEVICES": "8",
    "MPLBACKEND": "agg",
    "SHARDLAB_RECORD": "1",
    # Tracebacks are thrown away here, and to shorten each takes longer than to raise it.
    "JAX_TRACEBACK_FILTERING": "off",
    "PIP_NO_INDEX": "1",
    "PIP_RETRIES": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")


class CellTimeout(BaseException):
    """Raised inside a cell that takes too long; no `except Exception` catches it."""


class Compiler(CachingCompiler):
    """Calls a cell by its first line: numbers are others in the student's notebook, where not the same cells ran."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.label, self._labels = "", dict[str, str]()

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        name = str(super().get_code_name(raw_code, transformed_code, number))
        self._labels[name] = self.label
        return name

    def format_code_name(self, name: str) -> tuple[str, str] | None:
        return ("Cell", self._labels[name]) if name in self._labels else None


class SilentHook(DisplayHook):
    """Keeps `_` and `Out`, and never asks an object how it looks."""

    def compute_format_data(self, shown: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {}

    def write_output_prompt(self) -> None: ...

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None: ...

    def log_output(self, format_dict: dict[str, Any]) -> None: ...


class SilentPublisher(DisplayPublisher):
    """Throws displayed objects away; `%%capture` still gets them."""

    def publish(self, data: Any, metadata: Any = None, *args: Any, **rest: Any) -> None: ...


class Shell(InteractiveShell):
    """A notebook's IPython without a terminal, history, tracebacks or output."""

    displayhook_class = SilentHook
    display_pub_class = SilentPublisher
    compiler_class = Compiler

    def system(self, command: str) -> None:
        nowhere = subprocess.DEVNULL
        words = self.var_expand(command, depth=1)  # type: ignore[no-untyped-call]
        quiet = subprocess.run(words, shell=True, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        self.user_ns["_exit_code"] = quiet.returncode

    def enable_gui(self, gui: str | None = None) -> None: ...

    def ask_exit(self) -> None: ...

    def showtraceback(self, *args: Any, **kwargs: Any) -> None: ...

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None: ...

    def showindentationerror(self) -> None: ...


class Runner:
    """One notebook's run: the shell, the job, and the open output file."""

    def __init__(self, job: dict[str, Any], output: TextIO) -> None:
        self._job, self._output = job, output
        self._taken: set[tuple[str, str]] = set()
        self._errors = 0
        # Before any cell: when this fails the fault is ours, and nothing has been written.
        from shardlab.answers import in_the_box, record
        from shardlens import raised_at

        self._raised_at = raised_at
        self._entry_of, self._predictions, self._left_out = record.record, in_the_box.GIVEN, _beside("shown").left_out
        self._cells = _beside("cells")
        self._shell = _shell()
        self._compiler: Any = self._shell.compile

    def run(self) -> None:
        """Run all cells, then ask for what no grade cell has asked for, or found."""
        idle = self._idle()
        for index, cell in enumerate(self._job["cells"]):
            self._say({"cell": index})
            if index in idle:
                continue
            if cell["question"] is None:
                self._execute(index, cell["source"])
            else:
                self._ask(cell["question"])
        places = {cell["question"]: index for index, cell in enumerate(self._job["cells"])}
        for question, manifest in self._job["manifests"].items():
            if question in places and any((question, item["name"]) not in self._taken for item in manifest["items"]):
                self._say({"cell": places[question]})  # whose question it is, should this end the process
            self._ask(question, last=True)
        self._say({"end": True})

    def _idle(self) -> frozenset[int]:
        asked: set[str] = set()
        for manifest in self._job["manifests"].values():
            asked |= {manifest["variable"] or "", *(item["name"] for item in manifest["items"])}
        return self._left_out(self._job["cells"], asked)

    def _execute(self, index: int, source: str) -> None:
        error, begun = self._ran(index, source)
        if isinstance(error, SyntaxError) and not begun:
            rest, unread = self._readable(source)
            for each in unread[:UNREAD]:
                said = {"type": type(each).__name__, "message": str(each.msg)[:MESSAGE]}
                self._say({"error": {"cell": index, **said, "line": self._cells.told(each, source)}})
            error = self._ran(index, rest)[0] if unread else error
        if error is not None:
            self._say({"error": {"cell": index, **self._error(error)}})

    def _ran(self, index: int, source: str) -> tuple[BaseException | None, bool]:
        """What a cell raised, and whether it began to run."""
        try:
            with self._limit():
                self._compiler.label = self._cells.label(source)
                ran = self._shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
            return ran.error_before_exec or ran.error_in_exec, ran.error_before_exec is None
        except BaseException as raised:
            return raised, True

    def _readable(self, source: str) -> tuple[str, list[SyntaxError]]:
        try:
            with self._limit():
                found: tuple[str, list[SyntaxError]] = self._cells.readable(source, self._unread)
                return found
        except BaseException:
            return source, []

    def _unread(self, text: str) -> SyntaxError | None:
        try:
            compile(self._shell.transform_cell(text), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # type: ignore[no-untyped-call]
        except SyntaxError as error:
            return error
        return None

    def _ask(self, question: str, last: bool = False) -> None:
        manifest = self._job["manifests"].get(question, {"items": []})
        for item in manifest["items"]:
            if (question, item["name"]) in self._taken:
                continue
            try:
                entry = self._entry({**manifest, "items": [item]})
            except BaseException as raised:
                entry = {"error": self._error(raised)}
            # A grade cell that was moved stands before the cells that it asks about.
            if last or entry != MISSING:
                self._taken.add((question, item["name"]))
                self._say({"question": question, "item": item["name"], "entry": entry})

    def _entry(self, manifest: dict[str, Any]) -> dict[str, Any]:
        with self._limit():
            given = self._predictions.get(manifest["id"], {})
            entry = self._entry_of(manifest, self._shell.user_ns, given)["items"][manifest["items"][0]["name"]]
            size, most = len(json.dumps(entry, allow_nan=False)), self._job["answer_bytes"]
        if size > most:
            raise ValueError(f"the answer takes {size} bytes; at most {most} are read")
        return entry

    def _error(self, error: BaseException) -> dict[str, str]:
        try:
            with self._limit():
                message, line = str(error)[:MESSAGE], self._raised_at(error, ours=__file__)
        except BaseException:
            message = line = ""
        return {"type": type(error).__name__[:100], "message": message, "line": line}

    def _limit(self) -> contextlib.AbstractContextManager[None]:
        return _limit(self._job["cell_seconds"], self._job["cell_cpu_seconds"])

    def _say(self, line: dict[str, Any]) -> None:
        self._errors += "error" in line
        if "error" in line and self._errors > ERRORS:
            return
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()


@contextlib.contextmanager
def _limit(wall: float, cpu: float) -> Iterator[None]:
    running, limits = True, {signal.SIGALRM: f"{wall:g} s", signal.SIGPROF: f"{cpu:g} s of CPU time"}

    def ring(number: int, frame: FrameType | None) -> None:
        if running:
            raise CellTimeout(f"did not end within {limits[signal.Signals(number)]}")

    for number in limits:
        signal.signal(number, ring)
    # Again every second, for code that catches even this.
    signal.setitimer(signal.ITIMER_REAL, wall, 1.0)
    signal.setitimer(signal.ITIMER_PROF, cpu, 1.0)
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.setitimer(signal.ITIMER_PROF, 0.0)


@functools.cache
def _beside(name: str) -> Any:
    """A module of the grader's that lies beside this file. It is no package, so that a notebook cannot import it either."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(__file__), f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _shell() -> Shell:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Minimal"
    shell = Shell.instance(config=config)
    for name in INSTALLERS:
        shell.register_magic_function(lambda line: None, magic_name=name)  # type: ignore[call-arg, arg-type]
    return shell


def _hush() -> None:
    # stderr's descriptor stays open: the last words of a crash in native code are worth having.
    nowhere = open(os.devnull, "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(nowhere.fileno(), 1)
    sys.stdout = sys.stderr = nowhere


def warm() -> None:
    """What every notebook needs, imported and initialised once, before a server forks; no backend of JAX is started."""
    os.environ |= ENVIRONMENT
    # Tracing makes many small objects, and few of them are ever garbage.
    gc.set_threshold(50_000, 20, 100)
    import IPython.core.completer
    import IPython.core.magics  # noqa: F401

    import shardlab
    from shardlab.answers import in_the_box, record  # noqa: F401

    _beside("shown")
    _beside("cells")

    for name in dir(shardlab):
        getattr(shardlab, name)
    if "jax" in sys.modules:
        from shardlens import warm_jax

        warm_jax(public=True)


def main(job: str, output: str) -> None:
    """Run the job; the interpreter then ends at once, whatever threads and exit hooks the notebook left."""
    os.environ |= ENVIRONMENT
    with open(job, encoding="utf-8") as file:
        read = json.load(file)
    sys.argv = [sys.argv[0]]
    with open(output, "a", encoding="utf-8", errors="replace") as written:
        runner = Runner(read, written)
        told = os.dup(1)
        _hush()
        os.write(told, STARTED)
        os.close(told)
        runner.run()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
