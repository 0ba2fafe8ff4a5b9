from shardlab_course.answers import right, wrong


@wrong("all-tokens-reduced", 0)
def all_tokens():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T * D, 4 * 2 * D * F // model
        return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


@wrong("always-data", 7)
def always_data():
    def best_mesh(T, D, F, n):
        return [n, 1]


@wrong("always-model", 7)
def always_model():
    def best_mesh(T, D, F, n):
        return [1, n]


@wrong("larger-of-equal-ones")
def bigger_model():
    def step_bytes(T, D, F, data, model):
        a = 16 * T * D // data if model > 1 else 0
        b = 16 * D * F // model if data > 1 else 0
        return dict(model=a, data=b)

    def best_mesh(T, D, F, n):
        ms = [m for m in range(n, 0, -1) if n % m == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("all-reduce-counted-once", 5)
def counted_once():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
        return {"data": weights * (data > 1), "model": 2 * tokens * (model > 1)}


@wrong("one-device-is-not-free")
def formula_ignores_size_one():
    def step_bytes(T, D, F, data, model):
        return {"model": 16 * T * D // data, "data": 16 * D * F // model}

    def best_mesh(T, D, F, n):
        ms = [m for m in range(1, n + 1) if n % m == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("forward-only", 0)
def forward_only():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F // model
        return {"data": 2 * weights * (data > 1), "model": 2 * tokens * (model > 1)}


@right
def written_by_cases():
    def step_bytes(T, D, F, data, model):
        cost = {"data": 0, "model": 0}
        if model > 1:
            cost["model"] = 16 * T * D / data
        if data > 1:
            cost["data"] = 16 * D * F / model
        return cost


@wrong("powers-of-two-only")
def powers_of_two():
    def step_bytes(T, D, F, data, model):
        a = 16 * T * D // data if model > 1 else 0
        b = 16 * D * F // model if data > 1 else 0
        return dict(model=a, data=b)

    def best_mesh(T, D, F, n):
        ms = [2**i for i in range(n.bit_length()) if n % 2**i == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("axes-swapped")
def swapped_axes():
    def step_bytes(T, D, F, data, model):
        return {"data": 16 * T * D // data * (model > 1), "model": 16 * D * F // model * (data > 1)}

    def best_mesh(T, D, F, n):
        ms = [m for m in range(1, n + 1) if n % m == 0]
        m = min(ms, key=lambda m: sum(step_bytes(T, D, F, n // m, m).values()))
        return [n // m, m]


@wrong("whole-gradients-reduced", 0)
def whole_gradients():
    def step_bytes(T, D, F, data, model):
        tokens, weights = 4 * T // data * D, 4 * 2 * D * F
        return {"data": 2 * weights * (data > 1), "model": 2 * 2 * tokens * (model > 1)}


@wrong("larger-axis-alone", 7)
def the_busier_axis():
    def best_mesh(T, D, F, n):
        def moved(m):
            return max(step_bytes(T, D, F, n // m, m).values())

        m = min((m for m in range(1, n + 1) if n % m == 0), key=moved)
        return [n // m, m]
