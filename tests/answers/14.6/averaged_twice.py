# failed: averaged-again
# points: 1
import jax
import jax.numpy as jnp

P = jax.P


def grid(process_of):
    rows = {}
    for device, process in enumerate(process_of):
        rows.setdefault(process, []).append(device)
    return [rows[process] for process in sorted(rows)]


def gradients(mesh, X, Y, W1, W2):
    def reduce(slope):
        slope = jax.lax.psum_scatter(slope, "local", tiled=True)
        slope = jax.lax.psum(slope, "host")
        return jax.lax.all_gather(slope, "local", tiled=True, to="invarying") / 64

    def body(X, Y, *weights):
        weights = [jax.lax.pcast(w, ("host", "local"), to="varying") for w in weights]

        def loss(weights):
            return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

        return tuple(map(reduce, jax.grad(loss)(weights)))

    rows = P(("host", "local"), None)
    return jax.shard_map(body, mesh=mesh, in_specs=(rows, rows, P(), P()), out_specs=(P(), P()))(X, Y, W1, W2)
