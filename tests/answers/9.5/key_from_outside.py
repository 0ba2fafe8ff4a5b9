# passed
import jax

import shardlab as sl

P = jax.P
KEEP = 0.75


predictions = sl.predict("9.5", patterns=1)


def dropped(mesh, seed, x, axis, spec):
    def body(key, x):
        own = jax.random.fold_in(key, jax.lax.axis_index(axis))
        kept = jax.random.uniform(own, x.shape) < KEEP
        return x * kept / KEEP

    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(), spec), out_specs=spec))(jax.random.key(seed), x)


def drop_hidden(mesh, seed, H):
    return dropped(mesh, seed, H, "model", P(None, "model"))


def drop_output(mesh, seed, Y):
    return dropped(mesh, seed, Y, "data", P("data", None))
