from shardlab_course.answers import right, wrong


@wrong("whole-batch", 0)
def all_tokens():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers + 1) * tokens * depth * (model > 1)
        over_data = 2 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("collectives-on-one-device", 0)
def axes_of_one():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers + 1) * tokens * depth
        over_data = 2 * weights
        return [held, over_model, over_data]


@wrong("always-data", 12)
def data_first():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((0, model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("embedding-cut", 0)
def embedding_cut():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = (vocabulary * depth + 12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers + 1) * tokens * depth * (model > 1)
        over_data = 2 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("forward-only", 0)
def forward():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * 2 * layers * tokens * depth * (model > 1)
        over_data = 2 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("tie", 12)
def larger_model():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        return [devices // -min((a, -m) for a, m in fits)[1], -min((a, -m) for a, m in fits)[1]] if fits else None


@wrong("larger-axis-alone", 12)
def largest_axis():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((max(moved), model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("always-model", 12)
def model_first():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((-model, model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("nothing-fits", 12)
def never_none():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        return [devices // min(fits)[1], min(fits)[1]]


@wrong("-", 12)
def third_of_a_pair():
    """An index past the end of a tuple, where something fits."""

    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        return [devices // min(fits)[2], min(fits)[1]] if fits else None


@wrong("memory-ignored", 12)
def no_memory():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if True:
                fits.append((sum(moved), model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("other-order", 12)
def other_order():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        return [min(fits)[1], devices // min(fits)[1]] if fits else None


@wrong("sent-bytes", 12)
def sent_bytes():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 4 * (4 * layers + 1) * tokens * depth * (model > 1)
        over_data = 4 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("least-memory", 12)
def smallest():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((held, model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@right
def sorted_first():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        fits.sort()
        return (devices // fits[0][1], fits[0][1]) if fits else None


@wrong("uneven-batch", 12)
def uneven():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model:
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held <= memory:
                fits.append((sum(moved), model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("vocabulary-forgotten", 0)
def vocabulary_forgotten():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers) * tokens * depth * (model > 1)
        over_data = 2 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("whole-gradients-travel", 0)
def whole_gradients():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * weights + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers + 1) * tokens * depth * (model > 1)
        over_data = 2 * (2 * vocabulary * depth + 12 * layers * depth**2) * (data > 1)
        return [held, over_model, over_data]


@wrong("cut-weights-counted-whole", 0)
def whole_weights():
    def costs(data, model, batch, length, depth, layers, vocabulary):
        weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
        tokens = batch // data * length
        held = 6 * (vocabulary * depth + 12 * layers * depth**2 + depth * vocabulary) + 2 * tokens * depth * layers
        over_model = 2 * (4 * layers + 1) * tokens * depth * (model > 1)
        over_data = 2 * weights * (data > 1)
        return [held, over_model, over_data]


@wrong("exact-fit-refused", 12)
def less_than():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits = []
        for model in range(1, devices + 1):
            if devices % model or batch % (devices // model):
                continue
            held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
            if held < memory:
                fits.append((sum(moved), model))
        return [devices // min(fits)[1], min(fits)[1]] if fits else None


@wrong("powers-of-two-only", 12)
def doubled():
    def choose(devices, memory, batch, length, depth, layers, vocabulary):
        fits, model = [], 1
        while model <= devices:
            if devices % model == 0 and batch % (devices // model) == 0:
                held, *moved = costs(devices // model, model, batch, length, depth, layers, vocabulary)
                if held <= memory:
                    fits.append((sum(moved), model))
            model *= 2
        return [devices // min(fits)[1], min(fits)[1]] if fits else None
