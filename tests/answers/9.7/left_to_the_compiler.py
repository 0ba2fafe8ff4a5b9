# failed: left-to-the-compiler
# points: 2.5
import jax

P = jax.P


def mlp_2d(mesh, X, W1, b1, W2, b2):
    return jax.nn.relu(X @ W1 + b1) @ W2 + b2


def step_bytes(T, D, F, data, model):
    tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
    return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


def best_mesh(T, D, F, n):
    meshes = [(n // m, m) for m in range(1, n + 1) if n % m == 0]
    return min(meshes, key=lambda mesh: sum(step_bytes(T, D, F, *mesh).values()))
