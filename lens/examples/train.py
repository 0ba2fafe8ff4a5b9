"""Training steps in JAX and Optax, Flax NNX and Equinox, on eight devices: the batch over `data`, weights over `model`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import nnx

OPTIMIZER = optax.sgd(1e-2, momentum=0.9)


def mesh():
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def shaped(shape, *axes):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=jax.NamedSharding(mesh(), jax.P(*axes)))


# In JAX and Optax.
def loss(params, x):
    for layer in params["layers"]:
        x = x + jax.nn.relu(x @ layer["up"]) @ layer["down"]
    return (x**2).mean()


def step(params, state, x):
    value, gradients = jax.value_and_grad(loss)(params, x)
    updates, state = OPTIMIZER.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


def example(down):
    layers = [{"up": shaped((256, 1024), None, "model"), "down": shaped((1024, 256), *down)} for _ in range(2)]
    params = {"layers": layers}
    # The momentum is cut as the weights are.
    return params, (optax.TraceState(params), optax.EmptyState()), shaped((512, 256), "data")


def step_example():
    return example((None, "model"))  # <- both products are cut along their columns


def mended(params, state, x):
    return step(params, state, x)


def mended_example():
    return example(("model", None))


# In Flax NNX.
@nnx.jit
def nnx_step(model, optimizer, x):
    value, gradients = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
    optimizer.update(model, gradients)
    return value


def nnx_step_example():
    init = nnx.with_partitioning(nnx.initializers.lecun_normal(), (None, "model"))
    with jax.set_mesh(mesh()):
        model = nnx.Linear(256, 1024, use_bias=False, kernel_init=init, rngs=nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, OPTIMIZER, wrt=nnx.Param)
    return model, optimizer, jnp.zeros((512, 256), device=jax.NamedSharding(mesh(), jax.P("data")))


# In Equinox.
@eqx.filter_jit
def eqx_step(model, x):
    value, gradients = eqx.filter_value_and_grad(lambda model: (jax.vmap(model)(x) ** 2).mean())(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -1e-2 * g, gradients)), value


def eqx_step_example():
    everywhere, batch = (jax.NamedSharding(mesh(), spec) for spec in (jax.P(), jax.P("data")))
    model = eqx.filter_shard(eqx.nn.MLP(256, 256, 1024, 1, key=jax.random.key(0)), everywhere)
    return model, jnp.zeros((512, 256), device=batch)


# An example for readers: no docstrings, and no types.
# ruff: noqa: ANN001, ANN002, ANN201, D103
