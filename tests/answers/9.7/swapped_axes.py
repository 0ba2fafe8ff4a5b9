# failed: axes-swapped
import jax

P = jax.P


def mlp_2d(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        return jax.lax.psum(jax.nn.relu(x @ w1 + b1) @ w2, "model") + b2

    specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


def step_bytes(T, D, F, data, model):
    return {"data": 16 * T * D // data * (model > 1), "model": 16 * D * F // model * (data > 1)}


def best_mesh(T, D, F, n):
    ms = [m for m in range(1, n + 1) if n % m == 0]
    m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
    return [n // m, m]
