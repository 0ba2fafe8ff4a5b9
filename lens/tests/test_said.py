"""What XLA and JAX warn of while they compile: caught, explained, and nothing else withheld."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P

import shardlens as lens
import why_programs as programs
from shardlens.compilers.warnings import heard, sorted_out, unused_donations
from why_programs import constrained, mesh, spec

FROM, TO = "{devices=[4,1,2]<=[2,4]T(1,0)}", "{devices=[1,8,1]<=[8]}"
XLA = (
    "W1122 20:45:10.8 16209 spmd_partitioner.cc:656] [SPMD] Involuntary full rematerialization. The compiler cannot go from "
    f"sharding {FROM} to {TO} efficiently for HLO operation %sin.0 = f32[4,16,8]{{2,1,0}} sine(%p), sharding={FROM}, "
    'metadata={op_name="jit(g)/sin" stack_frame_id=3}. As the last resort\n'
).encode()
SAID = (
    f"XLA: involuntary full rematerialization. The program changes a sharding from {FROM} to {TO}, and the only way that "
    "XLA knows is to bring all of f32[4,16,8] to every device. A different spec on one of the two sides, or a sharding "
    "between them, avoids this. shardlens.why names the lines that ask for the two shardings. The operation is jit(g)/sin."
)

# As the XLA of JAX 0.12.0.1 says it.
FFT = (
    b"W1123 19:38:09.3 13124 fft_handler.cc:363] [SPMD] Falling back to replicated execution for tiled FFT operation fft.2: "
    b"the operand rank is less than 3. This may introduce all-gather communication and duplicate FFT computation. "
    b"Operation: %fft.2 = c64[64,32]{0,1} fft(%transpose.0), fft_type=FFT, fft_length={64}, "
    b"sharding={mesh['x'=8], [{}, {'x'}]}, "
    b'metadata={op_name="jit(f)/jit(fft)/fft" stack_frame_id=4}\n'
)


def turning():
    """A program that XLA cannot partition without making an array whole; new every time, so that it is compiled."""
    over = mesh(2, 4)

    def turn(x):
        return constrained(jnp.sin(constrained(x, over, "y", None, "x")), over, None, ("x", "y"), None)

    return turn, spec(over, (16, 16, 16), "y", None, "x")


def test_only_the_warning_is_taken_out() -> None:
    """Other lines come back as they were, bytes that are no text too; a warning that is said twice is one sentence."""
    found: list[str] = []
    assert sorted_out(b"before\n" + XLA + b"\xff after\n" + XLA + b"no end", found) == b"before\n\xff after\nno end"
    assert found == [SAID]


def test_what_runs_on_one_device(capfd: pytest.CaptureFixture[str]) -> None:
    """A callback of an array that is cut gathers it, which no other spec avoids; of blocks it does not."""

    def sine(x: jax.Array) -> jax.Array:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    over = mesh(2, 4)
    x = spec(over, (64, 8), "y")
    program = lens.inspect(sine, x)
    # XLA of JAX 0.12 does not warn.
    assert len(program.warnings) == int(jax.__version_info__ < (0, 12))
    for said in program.warnings:
        assert "a callback" in said and "inside shard_map" in said and "ifferent spec" not in said
    assert [c.kind for c in program.collectives] == ["all-gather"] and capfd.readouterr().err == ""
    blocks = lens.inspect(jax.shard_map(sine, mesh=over, in_specs=P("y"), out_specs=P("y")), x)
    assert blocks.collectives == () == blocks.warnings


def test_an_fft_that_is_not_taken_apart() -> None:
    """Why, which array, and which operation; half a line comes back as it was."""
    found: list[str] = []
    assert sorted_out(FFT + FFT[:90], found) == FFT[:90]
    (said,) = found
    assert "(the operand rank is less than 3)" in said and "all of c64[64,32] " in said and "jit(f)/jit(fft)/fft." in said


def test_an_fft_over_a_cut_dimension(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing of XLA's comes through, whether it warns of its gather or, before JAX 0.12, does not."""
    program = lens.inspect(lambda x: jnp.fft.fft(x, axis=0), spec(mesh(2, 4), (16, 8), "y", None, dtype="complex64"))
    assert "all-gather" in program.kinds and capfd.readouterr().err == ""
    assert all(said.startswith("XLA: an FFT runs along a dimension that is cut.") for said in program.warnings)


def test_inspect_and_why_show_it(capfd: pytest.CaptureFixture[str]) -> None:
    """Both say what XLA says, and stderr is free of it; what the function writes there is not lost."""
    f, x = turning()

    def noisy(x):
        os.write(2, b"written by the function\n")
        return f(x)

    program = lens.inspect(noisy, x)
    assert [said.partition(".")[0] for said in program.warnings] == ["XLA: involuntary full rematerialization"]
    assert capfd.readouterr().err == "written by the function\n"
    assert "involuntary" in str(program) and "involuntary" in program._repr_html_()
    # The same function again: `why` compiles anew, so XLA speaks again.
    assert "involuntary full rematerialization" in str(lens.why(noisy, x, tries=0))


def test_a_failure_keeps_everything(capfd: pytest.CaptureFixture[str]) -> None:
    """Where the compiler raises, its words are printed, warnings too."""
    with pytest.raises(ValueError, match="stop"), heard() as found:
        os.write(2, XLA)
        raise ValueError("stop")
    assert capfd.readouterr().err.encode() == XLA and found == []


def test_python_warnings_pass(recwarn: pytest.WarningsRecorder) -> None:
    """JAX's sentence on donation is kept; other warnings come as they would, errors where they are errors."""
    with heard() as found:
        warnings.warn("Some donated buffers were not usable: float32[4].\nSee an explanation", stacklevel=1)
    assert found == ["JAX: Some donated buffers were not usable: float32[4]."]
    with warnings.catch_warnings(record=True) as passed:
        warnings.simplefilter("always")
        with heard():
            warnings.warn("another", DeprecationWarning, stacklevel=1)
    assert [str(one.message) for one in passed] == ["another"]
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="strict"):
        warnings.simplefilter("error")
        with heard():
            warnings.warn("strict", stacklevel=1)


def test_threads_and_nesting(capfd: pytest.CaptureFixture[str]) -> None:
    """Within another one it works; of two threads one catches, and no output is lost."""
    with heard() as outer, heard() as inner:
        os.write(2, XLA + b"seen\n")
    assert (outer, inner) == ([], [SAID]) and capfd.readouterr().err == "seen\n"

    def write() -> None:
        with heard():
            os.write(2, b"from a thread\n")

    with heard():
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert capfd.readouterr().err == "from a thread\n"


@pytest.mark.thorough
def test_without_a_descriptor() -> None:
    """A process that has closed stderr still inspects."""
    script = (
        "import os, jax; os.close(2)\nfrom shardlens.compilers.warnings import heard\n"
        "with heard() as found: pass\nprint('right' if found == [] else 'wrong')"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "right\n"


def test_unused_donations() -> None:
    """Facts of the compiled text: donated arguments whose place no output takes."""
    header = "HloModule f, input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, must-alias) }\n(9, {}, may-alias)"
    assert unused_donations([True, False, True], header) == []
    assert unused_donations([True, True, True], header)[0].startswith("1 of 3 donated arguments are not reused")
    assert unused_donations([True], "HloModule f\n")[0].startswith("The donated argument is not reused")
    tuple_of_many = "HloModule f, input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {1}, may-alias) }\n"
    assert unused_donations([True, True], tuple_of_many) == []
    f, args = programs.unused_donation()
    assert lens.inspect(f, *args).warnings == tuple(unused_donations([True], ""))
    used = jax.jit(lambda a: a + 1, donate_argnums=0)
    assert lens.inspect(used, *args).warnings == () == lens.inspect(used, jnp.ones(4)).warnings
