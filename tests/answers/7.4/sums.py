# passed
# points: 3
import jax
import jax.numpy as jnp

P = jax.P


def parallel_normalize(mesh, x):
    def body(block):
        n = block.shape[1] * jax.lax.axis_size("y")
        mean = jax.lax.psum(block.sum(1), "y")[:, None] / n
        variance = jax.lax.psum(((block - mean) ** 2).sum(1), "y")[:, None] / n
        return (block - mean) / jnp.sqrt(variance)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


def is_normalized(x, y):
    for row, made in zip(x, y):
        mean = sum(row) / len(row)
        std = (sum((v - mean) ** 2 for v in row) / len(row)) ** 0.5
        if any(abs((v - mean) / std - m) > 1e-2 for v, m in zip(row, made)):
            return False
    return True
