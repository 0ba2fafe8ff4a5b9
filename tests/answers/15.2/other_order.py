# failed: other-order
# points: 1.5
def bill(data, model, batch, length, depth, layers, vocabulary):
    weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
    tokens = batch // data * length
    held = 6 * weights + 2 * tokens * depth * layers
    over_model = 2 * (4 * layers + 1) * tokens * depth * (model > 1)
    over_data = 2 * weights * (data > 1)
    return [held, over_model, over_data]


def choose(devices, memory, batch, length, depth, layers, vocabulary):
    fits = []
    for model in range(1, devices + 1):
        if devices % model or batch % (devices // model):
            continue
        held, *moved = bill(devices // model, model, batch, length, depth, layers, vocabulary)
        if held <= memory:
            fits.append((sum(moved), model))
    return [min(fits)[1], devices // min(fits)[1]] if fits else None
