"""The table of messages: what provoked JAX's messages is explained by one row, on both versions; and what prints it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import shardlens as lens
from messages import provoking, setting
from shardlens.messages.shown import explanation
from shardlens.messages.table import FILES

KEPT = provoking.kept()
ROWS = {row.name: row for row in lens.known_messages()}
THIS = ".".join(jax.__version__.split(".")[:2])
provoking.load()


def names(kind: str, text: str, line: str = "") -> list[str]:
    """The rows that know a message; of what a process wrote, those of all that is in it."""
    if kind == "Written":
        return [each.message.name for each in lens.diagnose(text).found]
    return [each.message.name for each in lens.recognise(kind, text, line)]


@pytest.mark.parametrize("name", KEPT)
def test_one_row_explains_it(name: str) -> None:
    """Each kept text is tried against all recognisers, and its own row alone answers."""
    _, rows = setting.PROGRAMS[name]
    for version, said in KEPT[name].items():
        if said:
            assert names(said["type"], said["text"], said["line"]) == [rows[version]], version


@pytest.mark.thorough
def test_the_programs_still_say_it(tmp_path: Path) -> None:
    """Run in one process on this JAX, each program says something that its row explains; who was silent is silent."""
    found = tmp_path / "texts.json"
    words = [sys.executable, "-m", "messages.provoking", *provoking.MODULES[:-1], str(found)]
    given = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    subprocess.run(words, cwd=Path(__file__).parent, env=given, check=True, capture_output=True)
    others = []
    for name, each in json.loads(found.read_text()).items():
        said, (_, rows) = each[THIS], setting.PROGRAMS[name]
        if bool(said) != bool(KEPT[name][THIS]) or said and names(said["type"], said["text"], said["line"]) != [rows[THIS]]:
            others.append((name, said))
    assert others == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", [n for n, (f, _) in setting.PROGRAMS.items() if f.__module__ == "messages.processes"])
def test_a_process_still_writes_it(name: str) -> None:
    """In a process of its own each program writes what its row explains; where nothing is kept, it is silent."""
    _, rows = setting.PROGRAMS[name]
    said = provoking.said(name)
    assert names("Written", said["text"]) == [rows[THIS]] if KEPT[name][THIS] else said == {}


def test_every_program_is_kept() -> None:
    """On both versions, and no text of a program that is gone."""
    assert set(KEPT) == set(setting.PROGRAMS)
    assert {version for said in KEPT.values() for version in said} == {"0.10", "0.12"}
    assert all(len(said) == 2 for said in KEPT.values())


# From public reports and JAX's documentation: what is not provoked here, for want of the machine, or of an hour.
PASTED = {
    "accelerator-unused": "WARNING:2025-01-01 00:00:00,000:jax._src.xla_bridge:794: An NVIDIA GPU may be present on this "
    "machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
    "coordinator-unreachable": "jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: failed to connect to all addresses; "
    "last error: UNKNOWN: ipv4:10.0.0.2:1234: Failed to connect to remote host",
    "donated-into-another-size": "XlaRuntimeError: INTERNAL: Expected aliased input 0 at index {} and output at index {0} "
    "to have the same size. Input sub-shape is s32[16]{0} with size 64, output sub-shape is s32[8]{0} with size 32",
    "computed-on-the-host": 'W host_offloader.cc:294] Found an instruction ("scatter.5") which does device compute in host '
    "memory space. Converting into host compute. This is likely to have a very slow execution time.",
    "checkpoint-of-other-devices": "E sharding.py:426] The available devices are different from the devices used to save "
    "the checkpoint. Please restore checkpoint by passing new shardings for target devices.",
    "put-while-traced": "TypeError: No canonicalize_dtype handler for type: <class "
    "'jax.interpreters.partial_eval.DynamicJaxprTracer'>",
    "devices-not-a-block": "AssertionError: jax_devices=[TpuDevice(id=1), TpuDevice(id=2)] dims=(2, 2, 1) cores_per_chip=1",
    "kernel-out-of-memory": "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem.",
    "group-not-complete": "E external/xla/xla/service/rendezvous.cc:38] This thread has been waiting for `initialize clique "
    "for rank 6; clique=devices=[0,1,2,3]; stream=0` for 10 seconds and may be stuck. Expected 8 threads to join the "
    "rendezvous, but not all of them arrived on time.",
    "gpu-library-failed": "E cuda_dnn.cc:429] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED",
    "device-failure": "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: NCCL operation ncclCommInitRankConfig(&comm, nranks, "
    "id, rank, &config) failed: unhandled system error (run with NCCL_DEBUG=INFO for details).",
    "compiler-failed": "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to execute XLA Runtime executable: run time "
    "error",
    "compiler-aborted": "F1122 20:40:24.167790   11205 import_shardy_attrs.cc:184] Check failed: result.getNumOperands() == "
    "1 (2 vs. 1)",
    "slow-compilation": "2025-02-02 10:00:00.0: E external/xla/xla/service/slow_operation_alarm.cc:65] Constant folding an "
    "instruction is taking > 1s:",
    "peer-ended": "XlaRuntimeError: UNKNOWN: Gloo all-reduce failed: [external/gloo/transport/tcp/pair.cc:547] Connection "
    "closed by peer [10.0.0.2]:31024",
    "pmap": "grads = jax.pmap(step, axis_name='i')(params, batch)",
    "with-partitioning": "kernel_init=nn.with_partitioning(nn.initializers.ones, (None, 'model'))",
    "with-mesh": "with mesh:\n    f(x)",
    "nothing-returned": "TypeError: function f traced for jit returned a value of type <class 'NoneType'>, which is not a "
    "valid JAX type",
    "tiled-fft": "W1123 19:38:09.3 13124 fft_handler.cc:363] [SPMD] Falling back to replicated execution for tiled FFT "
    "operation fft.2: the operand rank is less than 3. This may introduce all-gather communication. Operation: %fft.2 = "
    "c64[64,32]{0,1} fft(",
}
PASTED |= {
    "varying-operands": "JaxStackTraceBeforeTransformation: ValueError: Primitive reduce requires varying manual axes to "
    "match, but got [frozenset({'model', 'data'}), frozenset()]. Please open an issue at https://github.com/jax-ml/jax/issues",
    "kernel-operation-missing": "jax._src.source_info_util.JaxStackTraceBeforeTransformation: NotImplementedError: "
    "Unimplemented primitive in Pallas TPU lowering: cos. Please file an issue on https://github.com/jax-ml/jax/issues.",
    "cards-differ": "E local_client.cc:758] Execution of replica 0 failed: Invalid argument: executable is built for device "
    'CUDA:0 of type "GeForce RTX 2080 Ti"; cannot run it on device CUDA:1 of type "Tesla P100-PCIE-16GB"',
}
SIBLINGS = {
    "E nccl_utils.cc:191] Aborting communicator: 0x5555a108ff90 due to async NCCL error: remote process exited or there was "
    "a network error": "device-failure",
    "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed": "gpu-library-failed",
    "ShardingTypeError: sharding rule for scatter-add is not implemented. Please file a bug at": "out-sharding-required",
    "ValueError: pmap got inconsistent sizes for array axes to be mapped:\nthe tree of axis sizes is:\n({'x': 1},)": (
        "wrong-mapped-axis-size"
    ),
    "The input carry has type float32[2]{V:replicas} but the corresponding output carry component has type float32[2], so "
    "the manual axis types do not match.": "varying-carry",
    "ValueError: Tuple arity mismatch: 1 != 2; tuple: (Array([0, 1], dtype=int32),).\n\nDuring handling of the above "
    "exception, another exception occurred:\n\nUnfilteredStackTrace: ValueError: pytree structure error: different lengths "
    "of tuple at key path\n    shard_map in_specs\nAt that key path, the prefix pytree has a subtree": "count-of-specs",
}
"""Texts of public threads that no row knew, and the row that knows them now."""
NOT_PYTHON = ("python ", "pip ", "%pip ", "NCCL_DEBUG", "shardlens doctor", "return", "names_which", "if ")
"""How a cure begins that is a line for a shell, or a part of something."""


@pytest.mark.parametrize("name", PASTED)
def test_what_is_pasted(name: str) -> None:
    """One row alone."""
    assert [each.message.name for each in lens.diagnose(PASTED[name]).found] == [name]


@pytest.mark.parametrize("text", SIBLINGS, ids=list(SIBLINGS.values()))
def test_what_threads_paste(text: str) -> None:
    """One row alone, of the types of device, processes and versions that are not provoked here."""
    assert [each.message.name for each in lens.diagnose(text).found] == [SIBLINGS[text]]


def test_devices_that_make_no_mesh() -> None:
    """NumPy says it of any array; the line says that this one has devices."""
    said, line = "cannot reshape array of size 8 into shape (2,2)", "mesh.py, line 3, in <module>\n{}"
    assert names("ValueError", said, line.format("np.array(jax.devices()).reshape(2, 2)")) == ["device-mesh-size"]
    assert names("ValueError", said, line.format("x.reshape(2, 2)")) == ["shapes-do-not-fit"]


def test_no_row_without_a_text() -> None:
    """Each row explains a text that is kept or pasted here."""
    met = {rows[version] for name, (_, rows) in setting.PROGRAMS.items() for version in rows if KEPT[name].get(version)}
    assert set(ROWS) - met - set(PASTED) == set()


def test_types_are_those_that_were_met() -> None:
    """A row that is told by its exception's type names the types with which it was met."""
    for name, (_, rows) in setting.PROGRAMS.items():
        for version, said in KEPT[name].items():
            row = ROWS[rows[version]]
            if said and said["type"] != "Written" and row.types:
                assert said["type"] in row.types, (name, version)


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_rows_are_whole(row: lens.Message) -> None:
    """Sentences end where they should, and the code is Python, or a line for a shell."""
    assert row.file in FILES and not row.means.endswith(".")
    assert row.mistake.endswith((".", ";")) and row.cure.endswith((".", "..."))
    if not row.code.startswith(NOT_PYTHON):
        compile(row.code, "<cure>", "exec")


def test_a_traceback_in_the_middle_of_a_log() -> None:
    """Each exception of a text is looked up by its own type and message; what surrounds it does not matter."""
    log = (
        'step 17 loss 0.3\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\n    psum(x)\n'
        "jax.errors.ShardingTypeError: add operation with inputs: f32[8@data,8], f32[8,8@data] produces an illegally "
        "sharded\nresult: f32[8@data,8@data]\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        "E   \x1b[31mRuntimeError: Array has been deleted with shape=float32[8,4].\x1b[0m\n"
    )
    assert [each.message.name for each in lens.diagnose(log).found] == ["one-axis-twice", "deleted-array"]
    assert repr(lens.diagnose("nothing of note")).startswith("not known here: none of ")


def test_an_error_that_another_quotes() -> None:
    """What jit could not use as a key is one mistake, and is told once."""
    said = provoking.kept()["static_array"].values()
    assert all("\nTypeError: unhashable" in one["text"] for one in said)
    found = [lens.diagnose(f"{one['type']}: {one['text']}").found for one in said]
    assert [[each.message.name for each in one] for one in found] == [["static-not-hashable"]] * len(found)


def test_an_exception_that_hides_another() -> None:
    """Where the outer exception is not known, the one that it was raised from is told."""
    try:
        try:
            jax.lax.psum(1.0, "rows")
        except NameError as error:
            raise RuntimeError("step failed") from error
    except RuntimeError as outer:
        assert [each.message.name for each in lens.diagnose(outer).found] == ["unbound-axis"]


def test_below_a_scripts_traceback() -> None:
    """In a script it goes to stderr; the traceback stays, and the exit status."""
    script = "import shardlens, jax\nshardlens.explain_errors()\njax.lax.psum(1.0, 'rows')"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.index("NameError") < ran.stderr.index("  mend:")


def test_below_a_shells_traceback_once_or_not() -> None:
    """Called twice it explains once, and it can be taken back."""

    class Shell:
        shown: list[str]

        def _showtraceback(self, kind: type[BaseException], raised: BaseException, lines: list[str]) -> None:
            self.shown = lines

    shell, error = Shell(), KeyError("batch")
    for on, times in [(True, 1), (True, 1), (False, 0)]:
        lens.explain_errors(on, shell=shell)
        shell._showtraceback(KeyError, error, ["KeyError: 'batch'"])
        assert sum("Print its keys." in line for line in shell.shown) == times


def test_an_exception_whose_text_raises() -> None:
    """The user's own class cannot break the traceback."""

    class Broken(ValueError):
        def __str__(self) -> str:
            raise KeyError("no")

    assert explanation(Broken()) == []


def test_the_table_is_read_late() -> None:
    """What `inspect` imports reads no table: an import costs nothing more."""
    script = "import sys, shardlens; shardlens.inspect, shardlens.explain_errors; from shardlens.messages import table; "
    script += "print(table.known_messages.cache_info().currsize, 'tomllib' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "0 False\n"


def test_logs_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command explains what is in each log, below the log's name; a log without a known message says so."""
    hang, quiet = tmp_path / "host0.log", tmp_path / "host1.log"
    hang.write_text(KEPT["a_loop_of_different_lengths"][THIS]["text"])
    quiet.write_bytes(b"step 1 loss 0.5\n\xff\n")
    assert lens.lens_command(["doctor", str(hang), str(quiet)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"== {hang} ==\nhang: Some devices wait") and told.count("  mend:") == 1
    assert f"== {quiet} ==\nnot known here" in told
    assert lens.lens_command(["doctor", str(tmp_path / "nothing.log")]) == 1
    assert "[no-log]" in capsys.readouterr().err
