import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def constrained():
    def noisy(mesh, key, X):
        noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
        return X + jax.lax.with_sharding_constraint(noise, jax.NamedSharding(mesh, P("data", None)))


@told("numbers-depend-on-the-mesh")
def depends():
    sl.predict("10.8", draws={"same_numbers": False, "collectives": 0})


@wrong("all-numbers-everywhere", 4.25)
def noisy_everywhere():
    def noisy(mesh, key, X):
        def body(key, x):
            rows = len(x)
            noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
            return x + jax.lax.dynamic_slice_in_dim(noise, jax.lax.axis_index("data") * rows, rows)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("depends-on-the-mesh", 2)
def noisy_folded():
    def noisy(mesh, key, X):
        def body(key, x):
            key = jax.random.wrap_key_data(key)
            return x + jax.random.normal(jax.random.fold_in(key, jax.lax.axis_index("data")), x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@wrong("gathers", 3.5)
def noisy_gathers():
    def noisy(mesh, key, X):
        whole = jax.NamedSharding(mesh, P())
        noise = jax.random.normal(jax.random.wrap_key_data(key), X.shape)
        sum = jax.lax.with_sharding_constraint(jax.lax.with_sharding_constraint(X, whole) + noise, whole)
        return jax.lax.with_sharding_constraint(sum, jax.NamedSharding(mesh, P("data", None)))


@wrong("same-block-everywhere", 2)
def noisy_same_block():
    def noisy(mesh, key, X):
        def body(key, x):
            key = jax.random.wrap_key_data(key)
            return x + jax.random.normal(key, x.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


@told("numbers-are-sent")
def sent():
    sl.predict("10.8", draws={"same_numbers": True, "collectives": 1})


@wrong("all-numbers-everywhere", 4.25)
def twice():
    def noisy(mesh, key, X):
        k = jax.random.wrap_key_data(key)
        return X + jax.random.normal(k, X.shape) + 0 * jax.random.normal(jax.random.fold_in(k, 1), X.shape)
