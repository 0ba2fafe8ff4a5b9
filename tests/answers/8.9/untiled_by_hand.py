# passed
# points: 4.5
import jax

P = jax.P


def to_heads(mesh, x):
    def body(block):
        n, (t, h, k) = mesh.shape["x"], block.shape
        parts = block.reshape(t, n, h // n, k)
        return jax.lax.all_to_all(parts, "x", 1, 0).reshape(n * t, h // n, k)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


def to_tokens(mesh, x):
    def body(block):
        n, (t, h, k) = mesh.shape["x"], block.shape
        parts = jax.lax.all_to_all(block.reshape(n, t // n, h, k), "x", 0, 0)
        return parts.transpose(1, 0, 2, 3).reshape(t // n, n * h, k)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)
