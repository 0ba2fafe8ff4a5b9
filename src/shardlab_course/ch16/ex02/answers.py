from math import ceil

from shardlab_course.answers import right, wrong


def fullest(size, devices):
    return -(-size // devices)


def bytes_of(cut, batch, length, layers, kv_heads, width, devices, share=fullest):
    sizes = {"batch": batch, "sequence": length, "heads": kv_heads}
    sizes[cut] = share(sizes[cut], devices)
    return 4 * layers * width * sizes["batch"] * sizes["sequence"] * sizes["heads"]


@right
def by_cases():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        if cut == "heads":
            kv_heads = max(1, ceil(kv_heads / devices))
        elif cut == "batch":
            batch = ceil(batch / devices)
        else:
            length = ceil(length / devices)
        return 2 * (2 * layers * batch * length * kv_heads * width)

    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        batch = 0
        step = devices if cut == "batch" else 1
        part = weights // devices
        while part + held(cut, batch + step, length, layers, kv_heads, width, devices) <= memory:
            batch += step
        return batch


@right
def alone():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        fit = int(max(0, memory - weights / devices) // one)
        return fit * devices if cut == "batch" else fit


@wrong("whole-on-each", 5.5)
def uncut():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        return 4 * batch * length * layers * kv_heads * width

    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        return max(0, memory - weights // devices) // one * (devices if cut == "batch" else 1)


def of_its_own(cut, memory, weights, length, layers, kv_heads, width, devices):
    one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
    return max(0, memory - weights // devices) // one * (devices if cut == "batch" else 1)


@wrong("average-device", 5.5)
def divided():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        return 4 * batch * length * layers * kv_heads * width / devices

    largest_batch = of_its_own


@wrong("rounded-down", 5.5)
def down():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        def share(size, devices):
            return max(1, size // devices) if cut == "heads" else size // devices

        return bytes_of(cut, batch, length, layers, kv_heads, width, devices, share)

    largest_batch = of_its_own


@wrong("heads-cut-inside", 5.5)
def inside():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        if cut == "heads" and kv_heads < devices:
            return 4 * batch * length * layers * kv_heads * width // devices
        return bytes_of(cut, batch, length, layers, kv_heads, width, devices)

    largest_batch = of_its_own


@wrong("devices-without-heads", 5.5)
def none_left():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        if cut == "heads" and kv_heads < devices:
            return 0
        return bytes_of(cut, batch, length, layers, kv_heads, width, devices)

    largest_batch = of_its_own


@wrong("same-in-each-cut", 5.5)
def always_positions():
    def held(cut, batch, length, layers, kv_heads, width, devices):
        return bytes_of("sequence", batch, length, layers, kv_heads, width, devices)

    largest_batch = of_its_own


@wrong("weights-whole", 5)
def weights_whole():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        return max(0, memory - weights) // one * (devices if cut == "batch" else 1)


@wrong("weights-forgotten", 5)
def no_weights():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        return memory // one * (devices if cut == "batch" else 1)


@wrong("memories-pooled", 5)
def one_memory():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        return max(0, (memory * devices - weights) // (4 * length * layers * kv_heads * width))


@wrong("batch-of-one-device", 5)
def on_one():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        return max(0, memory - weights // devices) // bytes_of(cut, 1, length, layers, kv_heads, width, devices)


@wrong("less-than-none", 5)
def negative():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        return (memory - weights // devices) // one * (devices if cut == "batch" else 1)


@wrong("full-memory-refused", 5)
def less_than():
    def largest_batch(cut, memory, weights, length, layers, kv_heads, width, devices):
        batch, step = 0, devices if cut == "batch" else 1
        one = bytes_of(cut, 1, length, layers, kv_heads, width, devices)
        while weights // devices + (batch // step + 1) * one < memory:
            batch += step
        return batch
