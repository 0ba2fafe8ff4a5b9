import jax
from variants import right, wrong

P = jax.P


def mlp_2d(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2, "model") + b2

    specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


def step_bytes(T, D, F, data, model):
    tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
    return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


def best_mesh(T, D, F, n):
    meshes = [(n // m, m) for m in range(1, n + 1) if n % m == 0]
    return min(meshes, key=lambda mesh: sum(step_bytes(T, D, F, *mesh).values()))


@wrong("all-tokens-reduced", 2)
def all_tokens():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T * D, 4 * 2 * D * F // model
        return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


@wrong("always-data", 3.5)
def always_data():
    def best_mesh(T, D, F, n):
        return [n, 1]


@wrong("always-model", 3.5)
def always_model():
    def best_mesh(T, D, F, n):
        return [1, n]


@wrong("bias-on-every-device", 2.5)
def bias_before_the_sum():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2 + b2, "model")

        specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


@wrong("larger-of-equal-ones")
def bigger_model():
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
        ms = [m for m in range(n, 0, -1) if n % m == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("all-reduce-counted-once", 3)
def counted_once():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
        return {"data": weights * (data > 1), "model": 2 * tokens * (model > 1)}


@wrong("one-device-is-not-free")
def formula_ignores_size_one():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            return jax.lax.psum(jax.nn.relu(x @ w1 + b1) @ w2, "model") + b2

        specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)

    def step_bytes(T, D, F, data, model):
        return {"model": 16 * T * D // data, "data": 16 * D * F // model}

    def best_mesh(T, D, F, n):
        ms = [m for m in range(1, n + 1) if n % m == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("forward-only", 2)
def forward_only():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
        return {"data": 2 * weights * (data > 1), "model": 2 * tokens * (model > 1)}


@wrong("left-to-the-compiler", 2.5)
def left_to_the_compiler():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        return jax.nn.relu(X @ W1 + b1) @ W2 + b2


@right
def manual_over_model_only():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model") + b2

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), axis_names={"model"})(X, W1, b1, W2, b2)

    def step_bytes(T, D, F, data, model):
        bill = {"data": 0, "model": 0}
        if model > 1:
            bill["model"] = 16 * T * D / data
        if data > 1:
            bill["data"] = 16 * D * F / model
        return bill


@wrong("promise-not-proved", 2.5)
def no_sum():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return h @ w2 + b2

        specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


@wrong("powers-of-two-only")
def powers_of_two():
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


@wrong("tokens-added-up", 2.5)
def sum_over_both():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, ("data", "model")) + b2

        specs = (P("data", None), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, b1, W2, b2)


@wrong("axes-swapped")
def swapped_axes():
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


@wrong("tokens-gathered", 3.5)
def tokens_gathered():
    def mlp_2d(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model") + b2

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        Y = jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
        return jax.lax.with_sharding_constraint(Y, jax.NamedSharding(mesh, P("data", None)))


@wrong("whole-gradients-reduced", 2)
def whole_gradients():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F
        return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}
