# failed: powers-of-two-only
import jax

P = jax.P


def mlp_2d(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        return jax.lax.psum(jax.nn.relu(x @ w1 + b1) @ w2, "model") + b2

    specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


def step_bytes(T, D, F, data, model):
    a = 16 * T * D // data if model > 1 else 0
    b = 16 * D * F // model if data > 1 else 0
    return dict(model=a, data=b)


def best_mesh(T, D, F, n):
    ms = [2**i for i in range(n.bit_length()) if n % 2**i == 0]
    m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
    return [n // m, m]
