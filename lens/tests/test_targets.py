"""Programs compiled for TPU slices and GPUs without either: names, meshes, each way a mesh comes in, errors."""

import importlib.metadata
import importlib.util
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlens.compilers import cards, topology
from shardlens.compilers.targets import compile_for
from shardlens.compilers.topology import devices, parse_target, target_mesh
from shardlens.costs.cost import cost
from shardlens.errors import LensError
from shardlens.programs.inspection import compare, inspect, read_program
from shardlens.programs.program import Program

P = jax.P
Entry = str | tuple[str, ...] | None
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
needs_gpu_compiler = pytest.mark.skipif(not cards.at_hand(), reason=f"XLA for GPU is not here: {cards.command()}")
AUTO, EXPLICIT = jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit

KNOWN = {"v5e:2x4": 8, "v5e:16x16": 256, "v5e:1x1": 1, "v6e:8x16": 128, "v5p:2x2x1": 4, "v5p:4x4x4": 64, "v4:2x2x2": 8}
KNOWN |= {"h100:8": 8, "a100:1": 1, "h200:4": 4, "b200:2x8": 16, "h100:16x8": 128, "gb200:18x4": 72}
UNKNOWN = (
    "h100",
    "h100:16",
    "h100:0",
    "h100:2x2x2",
    "gb200:8",
    "t4:1",
    "v9:2x2",
    "v5e",
    "v5e:4x2",
    "v5e:2x2x2",
    "v5p:4x4",
    "v5p:1x4x4",
    "v5p:0x0x0",
    "v5p:4x4x32",
    "",
    "cpu",
)


@pytest.mark.parametrize("text, size", KNOWN.items())
def test_known_targets(text: str, size: int) -> None:
    """A target's name says its chip and its slice, and prints as it was written."""
    assert (parse_target(text).size, str(parse_target(text))) == (size, text)


@pytest.mark.parametrize("text", UNKNOWN)
def test_unknown_targets(text: str) -> None:
    """Any other name lists those that there are."""
    with pytest.raises(LensError) as error:
        parse_target(text)
    assert str(error.value) == (
        f"[unknown-target] there is no target {text!r}.\n  where: target={text!r}\n"
        "  mend:  v5e and v6e come as 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16;\n"
        "         v4, v5p and tpu7x as three sizes, each 2 or a multiple of 4 (the last may be 1): v5p:2x2x1, v5p:4x4x8;\n"
        "         several slices with *: v5e:2x4*2;\n"
        "         a100, h100, h200, b200, gb200 as cards, or hosts x cards: h100:8, h100:2x8."
    )


LINUX = "pip install 'shardlens[tpu]' (a download of 213 MB); without it, leave out target=."
ELSEWHERE = "libtpu exists for Linux on x86-64 only: use a machine of that kind or Colab; without it, leave out target=."


@pytest.mark.parametrize("machine, mend", [("x86_64", LINUX), ("arm64", ELSEWHERE)])
def test_without_libtpu(machine: str, mend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libtpu there is one sentence, and the mend fits the machine."""
    topology._devices.cache_clear()
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(LensError) as error:
        compile_for(jnp.sin, (jnp.ones(8),), "v5e:2x4")
    assert str(error.value) == (
        "[no-libtpu] compiling for a TPU needs libtpu, the TPU compiler, which is not installed here.\n"
        f"  where: target='v5e:2x4'   {platform.system()} {machine}, Python {platform.python_version()}\n  mend:  {mend}"
    )


@pytest.mark.parametrize("machine", ["linux", "darwin"])
def test_without_a_gpu_compiler(machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the plugin the error has the command that brings it, of JAX's version, where there is one for the machine."""
    topology._devices.cache_clear()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "platform", machine)
    monkeypatch.setattr(cards, "PLUGINS", ("xla_of_no_kind",))
    with pytest.raises(LensError, match=r"\[no-gpu-compiler\]") as error:
        compile_for(jnp.sin, (jnp.ones(8),), "h100:8")
    version = importlib.metadata.version("jaxlib")
    command = f"--target {tmp_path}/share/shardlens/gpu-{version} jax-cuda12-pjrt=={version} jax-cuda12-plugin=={version}\n"
    assert (command in str(error.value)) == (machine == "linux") != ("Linux only" in str(error.value))


@pytest.fixture
def mesh() -> jax.sharding.Mesh:
    """Two by four simulated CPU devices."""
    return jax.make_mesh((2, 4), ("x", "y"), axis_types=(AUTO,) * 2)


def spec(mesh: Any, shape: tuple[int, ...], *entries: Entry) -> jax.ShapeDtypeStruct:
    """A bf16 array's shape and sharding."""
    return jax.ShapeDtypeStruct(shape, "bfloat16", sharding=jax.NamedSharding(mesh, P(*entries)))


def case3(mesh: Any) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    """A[512@x, 1024@y] and B[1024@y, 2048], whose product needs an all-reduce over y."""
    return spec(mesh, (512, 1024), "x", "y"), spec(mesh, (1024, 2048), "y", None)


def matmul(a: jax.Array, b: jax.Array) -> jax.Array:
    """The product, left to the compiler."""
    return a @ b


def total(mesh: Any = None) -> Callable[[jax.Array], jax.Array]:
    """A sum over x, the mesh held by the function or left to the context."""
    return jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())


def compiled(f: Callable, args: tuple, target: str = "v5e:2x4", axes: dict[str, int] | None = None) -> Program:
    """What the TPU compiler made of it."""
    return read_program(*compile_for(f, args, target, axes))


def found(program: Program) -> list[tuple]:
    """Kind, axes, element type and bytes of each collective."""
    return [(c.kind, "".join(c.axes), c.dtype, c.payload_bytes) for c in program.collectives]


OVER_Y = ("all-reduce", "y", "bf16", 256 * 2048 * 2)
OVER_X = ("all-reduce", "x", "f32", 256 * 4)


@needs_libtpu
def test_arguments_carry_the_mesh(mesh: jax.sharding.Mesh) -> None:
    """Shardings over CPU devices become shardings over the slice; bf16 stays bf16; bytes are one device's."""
    program = compiled(matmul, case3(mesh))
    assert found(program) == [OVER_Y]
    assert (program.platform, program.devices) == ("tpu", 8)
    assert program.memory.argument == (256 * 256 + 256 * 2048) * 2 and program.memory.output == 256 * 2048 * 2
    assert program.memory.peak >= program.memory.output
    assert program.output_placements[0].axes == (("x", 2), ("y", 4))


@needs_libtpu
def test_the_function_holds_the_mesh(mesh: jax.sharding.Mesh) -> None:
    """A mesh in a closure, in out_shardings or in a constraint is found, with and without shardings in the arguments."""
    scattered = jax.jit(matmul, out_shardings=jax.NamedSharding(mesh, P("x", "y")))
    held = jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "y"), mesh=mesh, in_specs=(P("x", "y"), P("y")), out_specs=P("x"))
    assert found(compiled(held, case3(mesh))) == [OVER_Y]
    assert found(compiled(scattered, case3(mesh))) == [("reduce-scatter", "y", "bf16", 256 * 512 * 2)]
    constrained = jax.jit(lambda a, b: jax.lax.with_sharding_constraint(a @ b, jax.NamedSharding(mesh, P("x", "y"))))
    assert found(compiled(constrained, case3(mesh))) == [("reduce-scatter", "y", "bf16", 256 * 512 * 2)]
    for array in (np.ones(512, np.float32), jnp.ones(512), jax.device_put(jnp.ones(512), jax.NamedSharding(mesh, P("x")))):
        assert found(compiled(total(mesh), (array,))) == [OVER_X]


@needs_libtpu
def test_the_mesh_leads_or_is_in_the_context(mesh: jax.sharding.Mesh) -> None:
    """A first argument that is a mesh, a static one too, and the mesh of `jax.set_mesh`, are laid over the slice."""
    assert found(compiled(lambda m, a: total(m)(a), (mesh, jnp.ones(512)))) == [OVER_X]
    static = jax.jit(lambda m, a: total(m)(a), static_argnums=0)
    assert found(compiled(static, (mesh, jnp.ones(512)))) == [OVER_X]
    with jax.set_mesh(mesh):
        assert found(compiled(total(), (np.ones(512, np.float32),))) == [OVER_X]
        assert found(compiled(matmul, case3(mesh))) == [OVER_Y]


SLICES = [("v5e:16x16", (16, 16)), ("v5p:4x4x4", (8, 8)), ("v6e:2x4", (4, 2)), ("v4:2x2x2", (2, 4))]


@needs_libtpu
@pytest.mark.parametrize("target, sizes", SLICES)
def test_slices(target: str, sizes: tuple[int, int], mesh: jax.sharding.Mesh) -> None:
    """Any chip, any number of chips: with an abstract mesh, or with new sizes for the axes of a small one."""
    abstract = jax.sharding.AbstractMesh(sizes, ("x", "y"), axis_types=(AUTO,) * 2)
    program = compiled(matmul, case3(abstract), target)
    assert found(program) == [("all-reduce", "y", "bf16", 512 // sizes[0] * 2048 * 2)]
    assert program.devices == parse_target(target).size
    assert found(compiled(matmul, case3(mesh), target, dict(zip("xy", sizes)))) == found(program)


@needs_libtpu
def test_no_mesh_at_all() -> None:
    """A program of one device, or without arguments, compiles for one chip."""
    for f, args in ((lambda x: x @ x, (jnp.ones((64, 64)),)), (lambda: jnp.ones(3), ()), (lambda x: x * 2, (3.0,))):
        program = compiled(f, args)
        assert (program.platform, program.devices, program.collectives) == ("tpu", 1, ())
    assert compiled(lambda x: x @ x, (jnp.ones((64, 64)),), "v5e:1x1").devices == 1


@needs_libtpu
def test_explicit_axes_and_donation() -> None:
    """Axis types come along, and donated arguments stay donated."""
    explicit = jax.make_mesh((2, 4), ("x", "y"), axis_types=(EXPLICIT,) * 2)
    a = spec(explicit, (512, 1024), "x", "y")
    assert found(compiled(lambda a: a.sum(1), (a,))) == [("all-reduce", "y", "bf16", 256 * 2)]
    assert compiled(jax.jit(lambda a: a + 1, donate_argnums=0), (a,)).memory.alias == 256 * 256 * 2


@needs_libtpu
def test_errors_of_the_function() -> None:
    """A function that cannot be traced shows JAX's own error."""
    with pytest.raises(TypeError, match="contracting dimensions"):
        compile_for(matmul, (jnp.ones((4, 8)), jnp.ones((4, 8))), "v5e:2x4")


@needs_libtpu
def test_sizes_that_differ(mesh: jax.sharding.Mesh) -> None:
    """A mesh smaller than the slice says how to enlarge it; one inside the function, where to put it."""
    with pytest.raises(LensError) as error:
        compile_for(matmul, case3(mesh), "v5e:16x16")
    assert str(error.value) == (
        "[target-size] axes x=2, y=4 do not make up the 256 devices of v5e:16x16.\n"
        "  where: target='v5e:16x16'   x=2, y=4 makes 8\n"
        "  mend:  choose a slice of 8 devices, or say which sizes the axes have there: axes={'x': 16, 'y': 16}."
    )
    with pytest.raises(LensError, match=r"\[target-size\].*\n  where: the arguments' mesh: x=2, y=4"):
        compile_for(matmul, case3(mesh), "v5e:16x16", {"z": 256})
    with pytest.raises(LensError) as error:
        compile_for(total(mesh), (np.ones(512, np.float32),), "v5e:16x16", {"x": 16, "y": 16})
    assert str(error.value) == (
        "[mesh-inside] the function holds a mesh of 8 devices; v5e:16x16 has 256.\n"
        "  where: target='v5e:16x16'   x=16, y=16\n"
        "  mend:  take the mesh as the function's first argument, or leave it to jax.set_mesh."
    )


GPUS = {"h100:8": None, "a100:8": None, "h200:8": None, "b200:8": None, "h100:2x8": (2, 8), "gb200:4x4": (4, 4)}


@needs_gpu_compiler
@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("target, sizes", GPUS.items())
def test_gpus(target: str, sizes: tuple[int, int] | None, mesh: jax.sharding.Mesh) -> None:
    """Cards on one host and on several: bf16 stays bf16, bytes are one device's, FLOPs are counted from the text."""
    program = compiled(matmul, case3(mesh), target, dict(zip("xy", sizes)) if sizes else None)
    rows, (x, y) = 512 // (sizes or (2, 4))[0], sizes or (2, 4)
    assert found(program) == [("all-reduce", "y", "bf16", rows * 2048 * 2)]
    assert (program.platform, program.devices) == ("gpu", x * y)
    assert program.memory.argument == (rows * (1024 // y) + (1024 // y) * 2048) * 2
    assert program.memory.output == rows * 2048 * 2 <= program.memory.peak
    assert program.flops == 2 * rows * (1024 // y) * 2048 + rows * 2048


@needs_gpu_compiler
@pytest.mark.thorough
def test_gpus_scatter_what_was_asked_for(mesh: jax.sharding.Mesh) -> None:
    """Asked-for rows of a product, a mesh in the context, linear algebra, a callback, and one card alone."""
    scattered = jax.jit(matmul, out_shardings=jax.NamedSharding(mesh, P("x", "y")))
    assert found(compiled(scattered, case3(mesh), "h100:8")) == [("reduce-scatter", "y", "bf16", 256 * 512 * 2)]
    with jax.set_mesh(mesh):
        assert found(compiled(total(), (np.ones(512, np.float32),), "h100:8")) == [OVER_X]
    assert 'custom_call_target="cusolver_potrf_ffi"' in compiled(jnp.linalg.cholesky, (jnp.eye(8),), "h100:1").hlo
    called = compiled(lambda a: jax.pure_callback(np.sin, a, a), (jnp.ones(8),), "h100:1")
    assert [(call.out, call.into) for call in called.host_calls] == [(32, 32)]
    with pytest.raises(LensError, match=r"\[target-size\] axes x=2, y=4 do not make up the 16 devices of h100:2x8"):
        compile_for(matmul, case3(mesh), "h100:2x8")


@needs_libtpu
def test_meshes_over_slices() -> None:
    """A mesh over a slice has every device once, also where its axes split those of the torus."""
    for target, axes in (("v5e:2x4", {"a": 8}), ("v5p:4x4x4", {"a": 2, "b": 32}), ("v5e:16x16", {"a": 4, "b": 4, "c": 16})):
        over = target_mesh(target, axes)
        assert dict(over.shape) == axes and set(over.devices.flat) == set(devices(target))
        assert over.axis_types == (AUTO,) * len(axes)
    with pytest.raises(LensError, match="target-size"):
        target_mesh("v5e:2x4", {"a": 4})


@needs_libtpu
def test_side_by_side(mesh: jax.sharding.Mesh) -> None:
    """CPU and TPU beside each other: twice the bytes on CPU, because bf16 runs in f32 there."""
    both = compare(matmul, case3(mesh), ["here", "v5e:2x4"])
    again = inspect(matmul, *case3(mesh), targets=("cpu", "v5e:2x4"))
    assert str(again).split() == str(both).replace("here (8", "cpu (8").split()
    assert both["here"].payload_bytes == 2 * both["v5e:2x4"].payload_bytes
    lines = [line.split() for line in str(both).splitlines()]
    assert lines[0] == "on one device here (8 CPU) v5e:2x4 (8 TPU)".split()
    assert lines[1] == "all-reduce over y 1 f32, 2,097,152 1 bf16, 1,048,576".split()
    assert "A CPU runs bf16 collectives in f32" in both._repr_html_()


CHIPS = ("v4:2x2x1", "v5e:2x4", "v5p:2x2x1", "v6e:2x4")


@needs_libtpu
@pytest.mark.parametrize("target", CHIPS)
def test_the_compiler_knows_similar_chips(target: str) -> None:
    """The peak rates of the cost model are within a third of those that the TPU compiler itself counts with."""
    square, long = jax.ShapeDtypeStruct((8192, 8192), "bfloat16"), jax.ShapeDtypeStruct((2**26,), "bfloat16")
    for f, args in ((matmul, (square, square)), (lambda x: x * 2, (long,))):
        made, _ = compile_for(f, args, target)
        compilers = made.cost_analysis()["optimal_seconds"]
        assert 0.65 * compilers < cost(read_program(made), target).lower <= 1.05 * compilers


@needs_gpu_compiler
@pytest.mark.thorough
def test_three_compilers(mesh: jax.sharding.Mesh) -> None:
    """One product for three: the CPU sums in f32, and of asked-for rows it alone sums and cuts."""
    scattered = jax.jit(matmul, out_shardings=jax.NamedSharding(mesh, P("x", "y")))
    three = compare(scattered, case3(mesh), ["here", "h100:8"])
    assert [sorted(program.kinds) for _, program in three.programs] == [["all-reduce"], ["reduce-scatter"]]
    assert "say nothing about an accelerator" in str(three)


QUIET = """
import os
import jax, jax.numpy as jnp
from shardlens.compilers.targets import compile_for
x, before = jnp.ones((8, 8)), dict(os.environ)
compile_for(lambda x: x @ x, (x,), {!r})
assert dict(os.environ) == before
"""


QUIET_ON = ["v5e:2x4", pytest.param("h100:8", marks=needs_gpu_compiler)]


@pytest.mark.thorough
@needs_libtpu
@pytest.mark.parametrize("target", QUIET_ON)
def test_quiet(target: str) -> None:
    """Neither a compiler's loading nor its compiling writes to stderr or stdout, and the environment is as before."""
    ran = subprocess.run([sys.executable, "-c", QUIET.format(target)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
