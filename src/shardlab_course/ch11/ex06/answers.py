import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong


@right
def another_way():
    def adam(mesh, W, m, v, slope, steps):
        m = 0.9 * m + 0.1 * slope
        v = 0.999 * v + 0.001 * slope**2
        t = steps + 1
        change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
        return W - 0.01 * change, m, v


@right(of="another_way")
def by_name():
    step = jax.jit(adam, static_argnames="mesh", donate_argnames=("W", "m", "v"))


@right(of="another_way")
def closure():
    def step(mesh, *arrays):
        def inner(W, m, v, slope, steps):
            return adam(mesh, W, m, v, slope, steps)

        return jax.jit(inner, donate_argnums=(0, 1, 2))(*arrays)


@wrong("gradient-donated", 2.5, of="another_way")
def everything():
    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3, 4, 5))


@wrong("not-all-donated", 2.5, of="another_way")
def forgets_v():
    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2))


@wrong("gradient-donated", 2.5, of="another_way")
def gradient_too():
    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3, 4))


@wrong("nothing-donated", 2.5, of="another_way")
def jit_inside():
    def step(mesh, *arrays):
        @jax.jit
        def outer(*arrays):
            return jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))(mesh, *arrays)

        return outer(*arrays)


@wrong("mesh-not-static", 0, of="another_way")
def mesh_traced():
    step = jax.jit(adam, donate_argnums=(1, 2, 3))


@wrong("nothing-donated", 2.5, of="another_way")
def nothing():
    step = jax.jit(adam, static_argnums=0)


@right(of="another_way")
def out_shardings():
    def step(mesh, *arrays):
        rows = jax.NamedSharding(mesh, jax.P("data", None))
        jitted = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3), out_shardings=rows)
        return jitted(mesh, *arrays)


@wrong("nothing-donated", 2.5, of="another_way")
def plain():
    step = adam


@wrong("shifted-by-one", 2.5, of="another_way")
def shifted():
    step = jax.jit(adam, static_argnums=0, donate_argnums=(2, 3, 4))


@wrong("gradient-donated", 2.5, of="another_way")
def slope_only():
    step = jax.jit(adam, static_argnums=0, donate_argnums=4)


@wrong("weights-not-donated", 2.5, of="another_way")
def state_only():
    step = jax.jit(adam, static_argnums=0, donate_argnums=(2, 3))


@wrong("state-not-donated", 2.5, of="another_way")
def weights_only():
    step = jax.jit(adam, static_argnums=0, donate_argnums=1)


@wrong("one-step-behind", 0)
def steps_as_they_are():
    def adam(mesh, W, m, v, slope, steps):
        m = 0.9 * m + 0.1 * slope
        v = 0.999 * v + 0.001 * slope**2
        change = m / (1 - 0.9**steps) / (jnp.sqrt(v / (1 - 0.999**steps)) + 1e-4)
        return W - 0.01 * change, m, v

    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))


@wrong("small-number-forgotten", 0)
def no_small_number():
    def adam(mesh, W, m, v, slope, steps):
        m = 0.9 * m + 0.1 * slope
        v = 0.999 * v + 0.001 * slope**2
        t = steps + 1
        change = m / (1 - 0.9**t) / jnp.sqrt(v / (1 - 0.999**t))
        return W - 0.01 * change, m, v

    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))


@right
def corrected_at_once():
    def adam(mesh, W, m, v, slope, steps):
        t = steps + 1.0
        m, v = m + 0.1 * (slope - m), v + 0.001 * (slope * slope - v)
        scale = jnp.sqrt(-jnp.expm1(t * jnp.log(0.999)))
        return W - 0.01 * m / (1 - jnp.exp(t * jnp.log(0.9))) * scale / (jnp.sqrt(v) + 1e-4 * scale), m, v

    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))


@wrong("one-step-ahead", 0)
def one_more_than_next():
    def adam(mesh, W, m, v, slope, steps):
        m = 0.9 * m + 0.1 * slope
        v = 0.999 * v + 0.001 * slope**2
        t = steps + 2
        change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 0.0001)
        return W - 0.01 * change, m, v

    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))


@wrong("means-not-corrected", 0)
def not_corrected():
    def adam(mesh, W, m, v, slope, steps):
        m = 0.9 * m + 0.1 * slope
        v = 0.999 * v + 0.001 * slope**2
        return W - 0.01 * m / (jnp.sqrt(v) + 0.0001), m, v

    step = jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3))
