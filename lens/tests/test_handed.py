"""What people hand in to `inspect`, for the devices here and for a slice: wrappers, stages, keywords, trees."""

import functools
import importlib.util
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax import P
from jax.experimental.compilation_cache import compilation_cache

import shardlens as lens
from shardlens.errors import LensError
from shardlens.guards.assertions import assert_communicates
from shardlens.guards.lock import locked
from shardlens.programs.inspection import inspect
from shardlens.programs.program import Program

needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
BOTH = pytest.mark.parametrize("target", [None, pytest.param("v5e:2x4", marks=needs_libtpu)])
AUTO = jax.sharding.AxisType.Auto
SUMMED = [("all-reduce", ("y",), 32 * 256 * 4)]


def mesh_of(*sizes: int) -> jax.sharding.Mesh:
    """A mesh over the first devices."""
    return jax.make_mesh(sizes, ("x", "y")[: len(sizes)], axis_types=(AUTO,) * len(sizes))


def array(shape: tuple[int, ...], *entries: Any) -> jax.Array:
    """Random numbers over two by four devices."""
    numbers = np.random.default_rng(5).standard_normal(shape, "float32")
    return jax.device_put(numbers, jax.NamedSharding(mesh_of(2, 4), P(*entries)))


def arrays() -> tuple[jax.Array, jax.Array]:
    """Factors whose product is summed over y."""
    return array((64, 128), "x", "y"), array((128, 256), "y")


def product(a: jax.Array, b: jax.Array, *, scale: float = 1.0, summed: bool = True) -> jax.Array:
    """A product, or the first factor alone."""
    return (a @ b) * scale if summed else a * scale


class Model:
    """Methods: jitted over itself as a static argument, and plain."""

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, a: jax.Array, b: jax.Array) -> jax.Array:
        """The product."""
        return a @ b

    def plain(self, a: jax.Array, b: jax.Array) -> jax.Array:
        """The product."""
        return a @ b


class Wrapper:
    """What has `lower` and nothing else."""

    def lower(self, *args: Any) -> Any:
        """Of the product."""
        return jax.jit(product).lower(*args)


def found(program: Program) -> list[tuple]:
    """Kind, axes and bytes of each collective."""
    return [(c.kind, c.axes, c.payload_bytes) for c in program.collectives]


WRAPPED = {
    "function": product,
    "jit": jax.jit(product),
    "partial": functools.partial(product, scale=3.0),
    "partial of jit": functools.partial(jax.jit(product, static_argnames="summed"), summed=True),
    "method": Model().plain,
    "jitted method": Model().jitted,
    "checkpoint": jax.checkpoint(product),
    "own lower": Wrapper(),
    "filter_jit": eqx.filter_jit(product),
    "nnx.jit": nnx.jit(product),
}
KEYWORDS = {
    "traced": (product, {"scale": 2.0}),
    "static by name": (jax.jit(product, static_argnames=("summed", "scale")), {"summed": True, "scale": 2.0}),
    "filter_jit": (eqx.filter_jit(product), {"scale": 2.0, "summed": True}),
    "nnx.jit": (nnx.jit(product, static_argnames="summed"), {"summed": True}),
}


@BOTH
@pytest.mark.parametrize("f", WRAPPED.values(), ids=WRAPPED)
def test_wrapped(f: Any, target: str | None) -> None:
    """However a function is wrapped, it is the same program."""
    assert found(inspect(f, *arrays(), target=target)) == SUMMED


@BOTH
@pytest.mark.parametrize("f, keywords", KEYWORDS.values(), ids=KEYWORDS)
def test_keywords(f: Any, keywords: dict[str, Any], target: str | None) -> None:
    """Keyword arguments reach the function, static ones as they are; without them it is another program."""
    assert found(inspect(f, *arrays(), target=target, **keywords)) == SUMMED
    if "summed" in keywords:
        assert found(inspect(f, *arrays(), target=target, **{**keywords, "summed": False})) == []
    a, b = arrays()
    assert found(inspect(product, target=target, a=a, b=b)) == SUMMED


def rounds(n: int, x: jax.Array) -> jax.Array:
    """As many rounds as an argument says: nobody knows, where it is traced."""
    return jax.lax.fori_loop(0, n, lambda _, x: held(x * 2.0).sum(1, keepdims=True) + x, x)


def held(x: jax.Array) -> jax.Array:
    """Cut along both axes."""
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh_of(2, 4), P("x", "y")))


def trained(donate: tuple[int, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A step that changes a model and its optimizer in place, and their arguments."""
    model = nnx.Sequential(nnx.Linear(128, 64, rngs=nnx.Rngs(0)), nnx.Linear(64, 8, rngs=nnx.Rngs(1)))

    @functools.partial(nnx.jit, donate_argnums=donate)
    def step(model: Any, optimizer: Any, x: jax.Array) -> jax.Array:
        loss, grads = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
        optimizer.update(model, grads)
        return loss

    return step, (model, nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param), array((64, 128), "x"))


ALIKE = {name: (f, arrays, {}) for name, f in WRAPPED.items() if name != "own lower"}
ALIKE |= {f"keywords, {name}": (f, arrays, keywords) for name, (f, keywords) in KEYWORDS.items()}
ALIKE |= {
    "donated": (jax.jit(lambda a, b: (a + 1.0, a @ b), donate_argnums=0), arrays, {}),
    "rounds traced": (rounds, lambda: (3, array((64, 128), "x", "y")), {}),
    "rounds static": (jax.jit(rounds, static_argnums=0), lambda: (3, array((64, 128), "x", "y")), {}),
    "static and traced": (
        jax.jit(lambda n, x, rate: sum([x @ x.T] * n).sum() * rate, static_argnums=0),
        lambda: (2, array((64, 128), "x", "y"), 0.5),
        {},
    ),
    "nnx, in place": (trained(())[0], lambda: trained(())[1], {}),
    "nnx, donated": (trained((0, 1))[0], lambda: trained((0, 1))[1], {}),
    "in_shardings": (
        jax.jit(lambda rate, a: (rate * a).sum(), in_shardings=(None, jax.NamedSharding(mesh_of(8), P("x")))),
        lambda: (0.5, np.ones((64, 4), "float32")),
        {},
    ),
}


@pytest.mark.thorough(after=12)
@pytest.mark.parametrize("f, args, keywords", ALIKE.values(), ids=ALIKE)
def test_all_speak_of_one_program(f: Any, args: Any, keywords: dict[str, Any], tmp_path: Any) -> None:
    """`why`, `facts`, `assert_communicates` and the lock file take what `inspect` takes, and compile the same program."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        program = inspect(f, *args(), **keywords)
        explained = lens.why(f, *args(), tries=0, **keywords).program
        told = lens.facts(f, *args(), **keywords)
        known = [c for c in program.collectives if c.executions is not None]
        if known == [*program.collectives]:
            assert_communicates(f, *args(), at_most=program.price, kinds=program.kinds, **keywords)
        if keywords:
            locked(tmp_path / "a.json", f, *args(), update=True, **keywords)
            assert not locked(tmp_path / "a.json", f, *args(), **keywords)

    def facts(each: Program) -> list[Any]:
        return sorted([(c.kind, c.axes, c.dtype, c.shape, str(c.executions)) for c in each.collectives])

    assert facts(explained) == facts(program) != []
    assert explained.memory.alias == program.memory.alias
    assert sum(c["count"] for c in told["collectives"]) == len(program.collectives)
    assert told["price"] == (program.price if len(known) == len(program.collectives) else None)


def test_facts_of_all_arguments() -> None:
    """Numbers and plain arrays are inputs; what is no array is none; the values are those that the call gives."""
    a, b = arrays()
    found = lens.facts(jax.jit(product, static_argnames="summed"), a, b, scale=2.0, summed=True, right=2 * (a @ b))
    assert [(i["shape"], i["dtype"], i["spec"]) for i in found["inputs"]] == [
        ([64, 128], "float32", ["x", "y"]),
        ([128, 256], "float32", ["y", None]),
        ([], "float32", []),
        ([], "bool", []),
    ]
    assert found["mesh"] == {"x": 2, "y": 4} and found["error"] < 1e-5
    placed = jax.jit(lambda x: x * 2, out_shardings=jax.NamedSharding(mesh_of(8), P("x")))
    given = np.arange(8, dtype="complex64") * 1j
    assert (lens.facts(placed, given)["mesh"], lens.facts(placed, given, right=given)["error"]) == ({"x": 8}, 1.0)
    donating = jax.jit(lambda x: x + 1, donate_argnums=0)
    assert lens.facts(donating, a, right=a + 1)["error"] == 0 and not a.is_deleted()
    with pytest.raises(LensError, match=r"\[no-values\]"):
        lens.facts(product, *(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (a, b)), right=a)


@BOTH
def test_static_positions(target: str | None) -> None:
    """What `jax.jit` holds static by position is given as it is called."""
    power = jax.jit(lambda n, a, b: sum([a @ b] * n), static_argnums=0)
    assert found(inspect(power, 3, *arrays(), target=target)) == SUMMED


@BOTH
def test_stages(target: str | None) -> None:
    """Traced, lowered and compiled programs are taken as they are, equinox's and flax's too; for a TPU while they can be."""
    jitted = jax.jit(product)
    assert found(inspect(jitted.trace(*arrays()), target=target)) == SUMMED
    for_tpu = jitted.trace(*arrays()).lower(lowering_platforms=("tpu",))
    assert found(inspect(for_tpu, target="v5e:2x4")) == SUMMED if target else True
    lowered = [f.lower(*arrays()) for f in (jitted, eqx.filter_jit(product), nnx.jit(product))]
    for stage in [*lowered, *(each.compile() for each in lowered)]:
        if target is None:
            assert found(inspect(stage)) == SUMMED
        else:
            with pytest.raises(LensError, match=r"\[stage-of-another-platform\]"):
                inspect(stage, target=target)
    with pytest.raises(LensError, match=r"\[stage-with-arguments\] a Traced already has its arguments"):
        inspect(jitted.trace(*arrays()), *arrays(), target=target)


@BOTH
def test_donated(target: str | None) -> None:
    """What is donated takes no place of its own, by position, by name, and through equinox and partial."""

    def step(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        return a + 1, a @ b

    a, b = arrays()
    plain = inspect(step, a, b, target=target).memory
    by_position, by_name = jax.jit(step, donate_argnums=0), jax.jit(step, donate_argnames="a")
    programs = [
        inspect(by_position, a, b, target=target),
        inspect(by_name, target=target, a=a, b=b),
        inspect(functools.partial(by_position, a), b, target=target),
        inspect(eqx.filter_jit(lambda b, a: step(a, b), donate="all-except-first"), b, a, target=target),
    ]
    assert plain.alias == 0 and {each.memory.alias for each in programs} == {programs[0].memory.alias}
    assert programs[0].memory.alias >= 32 * 32 * 4


@pytest.mark.thorough(after=1)
@BOTH
def test_trees_and_models(target: str | None) -> None:
    """Trees of arrays, and modules of equinox and flax with what is no array in them."""
    a, b = arrays()
    tree = inspect(lambda t: {"out": [t["a"] @ t["b"][0]], "none": None}, {"a": a, "b": (b,)}, target=target)
    assert found(tree) == SUMMED and len(tree.output_placements) == 1
    layers = eqx.nn.MLP(128, 128, 256, 1, activation=jax.nn.gelu, key=jax.random.key(0))
    loss = eqx.filter_grad(lambda model, x: jnp.sum(jax.vmap(model)(x) ** 2))
    kinds = {(c.kind, c.axes) for c in inspect(eqx.filter_jit(loss), layers, a, target=target).collectives}
    assert kinds == {("all-reduce", ("y",)), ("all-reduce", ("x",))}
    linear = nnx.Linear(128, 256, rngs=nnx.Rngs(0))
    for f in (nnx.jit(lambda model, x: model(x)), lambda model, x: model(x)):
        assert {c.kind for c in inspect(f, linear, a, target=target).collectives} == {"all-reduce"}


@BOTH
def test_pmap(target: str | None) -> None:
    """One program over as many devices as there are, over an axis of its own."""
    mapped = jax.pmap(lambda a: jax.lax.psum(a, "i"), axis_name="i")
    program = inspect(mapped, np.ones((8, 4), "float32"), target=target)
    assert found(program) == [("all-reduce", ("i",), 16)] and program.devices == 8


@BOTH
def test_keys(target: str | None) -> None:
    """Random keys, whose arrays have a dimension that JAX does not show."""
    split = jax.jit(lambda key: jax.random.split(key, 8), out_shardings=jax.NamedSharding(mesh_of(8), P("x")))
    (placed,) = inspect(split, jax.random.key(0), target=target).output_placements
    assert (placed.shape, placed.shard_shape, placed.dtype) == ((8,), (1,), "key<fry>")


@BOTH
def test_abstract_arguments(target: str | None) -> None:
    """Arguments over a mesh without devices are compiled for the first devices, where there are as many."""
    mesh = jax.sharding.AbstractMesh((2, 4), ("x", "y"), axis_types=(AUTO,) * 2)
    shapes = (((64, 128), P("x", "y")), ((128, 256), P("y")))
    described = [jax.ShapeDtypeStruct(s, "float32", sharding=jax.NamedSharding(mesh, spec)) for s, spec in shapes]
    assert found(inspect(product, *described, target=target)) == SUMMED
    large = jax.sharding.AbstractMesh((16, 16), ("x", "y"), axis_types=(AUTO,) * 2)
    x = jax.ShapeDtypeStruct((64, 128), "float32", sharding=jax.NamedSharding(large, P("x")))
    with pytest.raises(LensError, match="target-size" if target else r"\[devices-too-few\] the mesh has 256 devices"):
        inspect(lambda a: a * 2, x, target=target)


@needs_libtpu
def test_ragged_all_to_all() -> None:
    """XLA for CPU has none, which is an error of ours; for a TPU it compiles."""
    ragged = functools.partial(jax.lax.ragged_all_to_all, axis_name="y")
    f = jax.shard_map(ragged, mesh=mesh_of(2, 4), in_specs=(P("y"),) * 6, out_specs=P("y"))
    sizes = (np.ones((16,), "int32"),) * 4
    args = (np.ones((64, 4), "float32"), np.zeros((64, 4), "float32"), *sizes)
    assert [c.kind for c in inspect(f, *args, target="v5e:2x4").collectives] == ["ragged-all-to-all"]
    with pytest.raises(LensError) as error:
        inspect(f, *args)
    assert str(error.value).startswith(
        "[compiler-lacks-it] XLA for CPU does not implement what this program asks for.\n"
        "  where: UNIMPLEMENTED: HLO opcode `ragged-all-to-all` is not supported by XLA:CPU"
    )


SUMS = {
    "all_reduce": lambda a: jax.lax.psum(a, "x"),
    "maximum": lambda a: jax.lax.pmax(a, "x"),
    "reduce_scatter": lambda a: jax.lax.psum_scatter(a, "x", tiled=True),
    "in a loop": lambda a: jax.lax.fori_loop(0, 3, lambda _, b: jax.lax.psum(b, "x") * b, a),
}


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("summed", SUMS.values(), ids=SUMS)
def test_sums_that_end_the_process(summed: Any) -> None:
    """XLA for CPU aborts at a sum of bfloat16 over some of a mesh's axes: an error instead, and others compile."""

    def mapped(axes: set[str]) -> Any:
        return jax.shard_map(summed, mesh=mesh_of(2, 4), axis_names=axes, in_specs=P("x"), out_specs=P("x"), check_vma=False)

    def kinds(axes: set[str], dtype: str, target: str | None = None) -> set[str]:
        x = jax.ShapeDtypeStruct((16, 8), dtype, sharding=jax.NamedSharding(mesh_of(2, 4), P("x")))
        return {c.kind for c in inspect(mapped(axes), x, target=target).collectives}

    with pytest.raises(LensError, match=r"\[compiler-would-die\].*\n.*bf16") as error:
        kinds({"x"}, "bfloat16")
    assert re.match(r"stablehlo\.(all_reduce|reduce_scatter) of tensor<\d+x8xbf16>   test_handed.py:\d+$", error.value.where)
    for axes, dtype in (({"x", "y"}, "bfloat16"), ({"x"}, "float32"), ({"x"}, "float16")):
        assert kinds(axes, dtype) <= {"all-reduce", "reduce-scatter"} != set()
    if importlib.util.find_spec("libtpu"):
        assert kinds({"x"}, "bfloat16", "v5e:2x4") <= {"all-reduce", "reduce-scatter"}


@pytest.mark.thorough
def test_a_sum_that_ends_the_process() -> None:
    """It does still: where a newer XLA does not, the error has to go."""
    script = (
        "import jax; jax.config.update('jax_num_cpu_devices', 4)\n"
        "mesh = jax.make_mesh((2, 2), ('x', 'y'), axis_types=(jax.sharding.AxisType.Auto,) * 2)\n"
        "some = dict(mesh=mesh, axis_names={'x'}, in_specs=jax.P('x'), out_specs=jax.P())\n"
        "f = jax.shard_map(lambda a: jax.lax.psum(a, 'x'), **some)\n"
        "jax.jit(f).lower(jax.ShapeDtypeStruct((4,), 'bfloat16')).compile()"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.returncode < 0 and "Invalid binary instruction opcode copy" in ended.stderr


REFUSED = {
    "no function": (lambda: inspect(jnp.ones(3)), "nothing-to-compile"),
    "axes alone": (lambda: inspect(jnp.sin, jnp.ones(3), axes={"x": 8}), "axes-without-target"),
    "equinox with a description": (
        lambda: inspect(eqx.filter_jit(jnp.sin), jax.ShapeDtypeStruct((3,), "float32")),
        "equinox-needs-arrays",
    ),
}


@pytest.mark.parametrize("call, reference", REFUSED.values(), ids=REFUSED)
def test_refused(call: Any, reference: str) -> None:
    """What cannot be compiled as it was handed in says so, and what to hand in."""
    with pytest.raises(LensError) as error:
        call()
    assert error.value.reference == reference and error.value.mend


def test_its_own_target() -> None:
    """A function whose keyword is `target` or `axes` is given it by partial, as the docstring says."""

    def f(x: jax.Array, *, axes: int) -> jax.Array:
        return x.sum(axes)

    assert inspect(functools.partial(f, axes=1), jnp.ones((4, 6))).output_placements[0].shape == (4,)


@pytest.fixture
def kept_on_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folder of JAX's persistent compilation cache, in use for all that is compiled."""
    wanted = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in wanted}
    for name, value in wanted.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    yield tmp_path
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.mark.parametrize("called", [False, True], ids=["new", "called before"])
def test_lines_are_its_own_with_a_persistent_cache(kept_on_disk: pathlib.Path, called: bool) -> None:
    """JAX's key leaves lines out: a program read from disk would name those of one like it that was compiled before."""
    given = arrays()
    programs = [
        lambda a, b: jnp.cos(a @ b),
        lambda a, b: jnp.cos(a @ b),
    ]
    for f in programs:
        jitted = jax.jit(f) if called else f
        np.asarray(jitted(*given))
        assert inspect(jitted, *given).collectives[0].source == f"test_handed.py:{f.__code__.co_firstlineno}"
    assert [*kept_on_disk.iterdir()]
