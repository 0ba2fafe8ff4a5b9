import jax
import jax.numpy as jnp
from variants import right, wrong

import shardlab as sl

P = jax.P

sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    def body(key, x):
        own = jax.random.fold_in(jax.random.wrap_key_data(key), jax.lax.axis_index("data"))
        return x + jax.random.normal(own, x.shape)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("promise-not-proved", 3.5)
def apart_by_model():
    def apart(mesh, key, X):
        def body(key, x):
            own = jax.random.fold_in(jax.random.wrap_key_data(key), jax.lax.axis_index(mesh.axis_names))
            return x + jax.random.normal(own, x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("one-array-of-noise", 3.5)
def apart_one_array():
    def apart(mesh, key, X):
        return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


@wrong("same-key", 3.5)
def apart_same_key():
    def apart(mesh, key, X):
        def body(key, x):
            own = jax.random.wrap_key_data(key)
            return x + jax.random.normal(own, x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@right
def apart_split():
    def apart(mesh, key, X):
        own = jax.random.split(jax.random.wrap_key_data(key), len(X))
        return X + jax.vmap(lambda k: jax.random.normal(k, X.shape[1:]))(own)


@wrong("devices-draw-by-themselves", 4.5)
def by_themselves():
    sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 8})


@right
def by_vmap():
    def apart(mesh, key, X):
        key = jax.random.wrap_key_data(key)
        own = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(len(X)))
        return X + jax.vmap(lambda k: jax.random.normal(k, X.shape[1:]))(own)


@right
def constrained():
    def noisy(mesh, key, X):
        noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
        return X + jax.lax.with_sharding_constraint(noise, jax.NamedSharding(mesh, P("data", None)))


@wrong("numbers-depend-on-the-mesh", 4.5)
def depends():
    sl.predict("10.8", draws={"same_numbers": False, "collectives": 0, "patterns": 1})


@right
def keys_in():
    def apart(mesh, key, X):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.wrap_key_data(key), jnp.arange(mesh.shape["data"]))

        def body(keys, x):
            return x + jax.random.normal(keys[0], x.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))(keys, X)


@wrong("noise-travels", 4.5)
def loop_stack():
    def apart(mesh, key, X):
        k = jax.random.wrap_key_data(key)
        noise = jnp.stack([jax.random.normal(jax.random.fold_in(k, i), X.shape[1:]) for i in range(len(X))])
        return X + noise


@wrong("all-numbers-everywhere", 4.5)
def noisy_everywhere():
    def noisy(mesh, key, X):
        def body(key, x):
            rows = len(x)
            noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
            return x + jax.lax.dynamic_slice_in_dim(noise, jax.lax.axis_index("data") * rows, rows)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("depends-on-the-mesh", 3)
def noisy_folded():
    def noisy(mesh, key, X):
        def body(key, x):
            key = jax.random.wrap_key_data(key)
            return x + jax.random.normal(jax.random.fold_in(key, jax.lax.axis_index("data")), x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("gathers", 4)
def noisy_gathers():
    def noisy(mesh, key, X):
        whole = jax.NamedSharding(mesh, P())
        noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
        sum = jax.lax.with_sharding_constraint(jax.lax.with_sharding_constraint(X, whole) + noise, whole)
        return jax.lax.with_sharding_constraint(sum, jax.NamedSharding(mesh, P("data", None)))


@wrong("same-block-everywhere", 3)
def noisy_same_block():
    def noisy(mesh, key, X):
        def body(key, x):
            key = jax.random.wrap_key_data(key)
            return x + jax.random.normal(key, x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("numbers-are-sent", 4.5)
def sent():
    sl.predict("10.8", draws={"same_numbers": True, "collectives": 1, "patterns": 1})
