"""Ways to write that JAX has left behind: what it says of each today, and what to write instead."""

from __future__ import annotations

from shardlab_course.clinic.case import Case, Old

_SPLIT = 'NamedSharding(mesh, P("data"))'

ROWS = (
    Old(
        case="pjit",
        api="`jax.experimental.pjit.pjit`",
        says="jax.experimental.pjit.pjit has been deprecated. Please use `jax.jit` instead.",
        old=f"""\
from jax.experimental.pjit import pjit

out = pjit(lambda x: 2 * x, out_shardings={_SPLIT})(x)
""",
        new=f"""\
out = jax.jit(lambda x: 2 * x, out_shardings={_SPLIT})(x)
""",
        value="2 * x",
    ),
    Old(
        case="pjit",
        api="`in_axis_resources`, `out_axis_resources`",
        says="TypeError: pjit() got an unexpected keyword argument 'in_axis_resources'",
        old="""\
from jax.experimental.pjit import pjit

out = pjit(lambda x: 2 * x, in_axis_resources=P("data"), out_axis_resources=P("data"))(x)
""",
        new="""\
rows = NamedSharding(mesh, P("data"))
out = jax.jit(lambda x: 2 * x, in_shardings=rows, out_shardings=rows)(x)
""",
        value="2 * x",
    ),
    Old(
        case="pjit",
        api="`PartitionSpec` from `jax.experimental.pjit`",
        says="ImportError: cannot import name 'PartitionSpec' from 'jax.experimental.pjit'",
        old="""\
from jax.experimental.pjit import PartitionSpec

out = jax.device_put(x, NamedSharding(mesh, PartitionSpec("data")))
""",
        new="""\
out = jax.device_put(x, NamedSharding(mesh, jax.P("data")))
""",
        value="x",
    ),
    Old(
        case="pmap",
        api="`jax.pmap`",
        says="",
        old="""\
out = jax.pmap(lambda row: row - jax.lax.pmean(row, "i"), axis_name="i")(x)
""",
        new="""\
line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
f = jax.shard_map(lambda rows: rows - jax.lax.pmean(rows, "i"), mesh=line, in_specs=P("i"), out_specs=P("i"))
out = jax.jit(f)(x)
""",
        value="x - x.mean(0)",
    ),
    Old(
        case="pmap",
        api="`jax.device_put_sharded`, `jax.device_put_replicated`",
        says="AttributeError: jax.device_put_sharded is deprecated; use jax.device_put instead.",
        old="""\
out = jax.device_put_sharded(list(x), jax.devices())
""",
        new="""\
line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
out = jax.device_put(x, NamedSharding(line, P("i")))
""",
        value="x",
    ),
    Old(
        case="with-mesh",
        api="`with mesh:`",
        says="`with mesh:` context manager has been deprecated. Please use `with jax.set_mesh(mesh):` instead.",
        old="""\
with mesh:
    out = jax.jit(lambda x: jax.lax.with_sharding_constraint(2 * x, P("data")))(x)
""",
        new="""\
with jax.set_mesh(mesh):
    out = jax.jit(lambda x: jax.lax.with_sharding_constraint(2 * x, P("data")))(x)
""",
        value="2 * x",
    ),
    Old(
        case="with-mesh",
        api="`jax.sharding.use_mesh`",
        says="AttributeError: module 'jax.sharding' has no attribute 'use_mesh'.",
        old="""\
with jax.sharding.use_mesh(mesh):
    out = jax.jit(lambda x: 2 * x, out_shardings=P("data"))(x)
""",
        new="""\
with jax.set_mesh(mesh):
    out = jax.jit(lambda x: 2 * x, out_shardings=P("data"))(x)
""",
        value="2 * x",
    ),
    Old(
        case="experimental-shard-map",
        api="`jax.experimental.shard_map`",
        says="jax.experimental.shard_map is deprecated in v0.8.0. Used jax.shard_map instead.",
        old="""\
from jax.experimental.shard_map import shard_map

out = shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
        new="""\
out = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
        value="2 * x",
    ),
    Old(
        case="experimental-shard-map",
        api="`check_rep`",
        says="TypeError: shard_map() got an unexpected keyword argument 'check_rep'",
        old="""\
out = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), check_rep=False)(x)
""",
        new="""\
out = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), check_vma=False)(x)
""",
        value="2 * x",
    ),
    Old(
        case="experimental-shard-map",
        api="`auto=` of `shard_map`",
        says="TypeError: shard_map() got an unexpected keyword argument 'auto'",
        old="""\
out = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), auto=frozenset({"model"}))(x)
""",
        new="""\
out = jax.jit(
    jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})
)(x)
""",
        value="2 * x",
    ),
    Old(
        case="experimental-shard-map",
        api="`shard_map(f, mesh, in_specs, out_specs)` by position",
        says="TypeError: shard_map() takes from 0 to 1 positional arguments but 4 were given",
        old="""\
out = jax.shard_map(lambda x: 2 * x, mesh, P("data"), P("data"))(x)
""",
        new="""\
out = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
        value="2 * x",
    ),
    Old(
        case="experimental-shard-map",
        api="`jax.lax.pvary`",
        says="AttributeError: jax.lax.pvary was deprecated in JAX v0.8.2 and removed in JAX v0.10.0;",
        old="""\
def sums(rows):
    start = jax.lax.pvary(jnp.zeros(4), "data")
    return jax.lax.scan(lambda sum, row: (sum + row, None), start, rows)[0][None]


out = jax.shard_map(sums, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
        new="""\
def sums(rows):
    start = jax.lax.pcast(jnp.zeros(4), "data", to="varying")
    return jax.lax.scan(lambda sum, row: (sum + row, None), start, rows)[0][None]

out = jax.shard_map(sums, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
        value="x.reshape(4, 2, 4).sum(1)",
        newer="AttributeError: module 'jax.lax' has no attribute 'pvary'",
    ),
    Old(
        case="gone",
        api="`xmap`, `jax.experimental.maps`",
        says="ModuleNotFoundError: No module named 'jax.experimental.maps'",
        old="""\
from jax.experimental.maps import xmap

out = xmap(lambda row: 2 * row, in_axes=["i", ...], out_axes=["i", ...])(x)
""",
        new="""\
line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
out = jax.shard_map(jax.vmap(lambda row: 2 * row), mesh=line, in_specs=P("i"), out_specs=P("i"))(x)
""",
        value="2 * x",
    ),
    Old(
        case="gone",
        api="`PositionalSharding`",
        says="ImportError: cannot import name 'PositionalSharding' from 'jax.sharding'",
        old="""\
from jax.sharding import PositionalSharding

out = jax.device_put(x, PositionalSharding(jax.devices()).reshape(8, 1))
""",
        new="""\
line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
out = jax.device_put(x, NamedSharding(line, P("i")))
""",
        value="x",
    ),
    Old(
        case="constraint-on-explicit",
        api="`with_sharding_constraint` on `Explicit` axes",
        says="The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh.",
        old="""\
rows = jax.device_put(x, NamedSharding(typed, P("data")))
out = jax.jit(lambda x: jax.lax.with_sharding_constraint(2 * x, NamedSharding(typed, P("data", "model"))))(rows)
""",
        new="""\
rows = jax.device_put(x, NamedSharding(typed, P("data")))
out = jax.jit(lambda x: jax.reshard(2 * x, NamedSharding(typed, P("data", "model"))))(rows)
""",
        value="2 * x",
    ),
    Old(
        case="with-partitioning",
        api="Linen's `with_partitioning`, and `init`",
        says="kernel on 1 of 8 devices",
        old="""\
import flax.linen as nn

layer = nn.Dense(2, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "model")))
kernel = layer.init(jax.random.key(0), x)["params"]["kernel"].value
print("kernel on", len(kernel.sharding.device_set), "of 8 devices")
out = x @ kernel
""",
        new="""\
import flax.linen as nn

layer = nn.Dense(2, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "model")))

def init():
    return layer.init(jax.random.key(0), x)

shardings = nn.get_sharding(jax.eval_shape(init), mesh)
kernel = jax.jit(init, out_shardings=shardings)()["params"]["kernel"].value
assert kernel.sharding.spec == P(None, "model")
out = x @ kernel
""",
        value="x @ np.ones((4, 2), np.float32)",
    ),
)


def _case(name: str, exercise: str, heading: str = "") -> Case:
    program = next(row.old for row in ROWS if row.case == name)
    return Case(name, exercise, f"old_to_new.md#{heading or name}", program)


CASES = (
    _case("pjit", "3.7"),
    _case("pmap", "7.1"),
    _case("with-mesh", "6.6"),
    _case("experimental-shard-map", "7.3"),
    _case("gone", "1.1"),
    _case("constraint-on-explicit", "6.5", "explicit-constraint"),
    _case("with-partitioning", "10.7"),
)
