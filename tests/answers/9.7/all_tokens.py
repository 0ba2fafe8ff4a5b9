# failed: all-tokens-reduced
# points: 2
import jax

P = jax.P


def mlp_2d(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2, "model") + b2

    specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


def step_bytes(T, D, F, data, model):
    tokens, weights = 4 * T * D, 4 * 2 * D * F // model
    return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


def best_mesh(T, D, F, n):
    meshes = [(n // m, m) for m in range(1, n + 1) if n % m == 0]
    return min(meshes, key=lambda mesh: sum(step_bytes(T, D, F, *mesh).values()))
