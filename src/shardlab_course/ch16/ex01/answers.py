import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("work-taken-for-time")
def sixteen_times():
    sl.predict("16.1", times=16)


@right
def step_by_step():
    def cached(layers, heads, kv_heads, width, length):
        total = 0
        for _ in range(layers):
            total += 2 * kv_heads * width * length + 2 * kv_heads * width * length
        return total

    def seconds(parameters, cache, batch, flops, bandwidth):
        balance = flops / bandwidth
        per_weight = max(1 + batch * cache / (2 * parameters), batch / balance)
        return per_weight * 2 * parameters / bandwidth


@right
def with_numpy():
    import numpy as np

    def cached(layers, heads, kv_heads, width, length):
        return int(np.prod([2, layers, kv_heads, width, length]) * 2)

    def seconds(parameters, cache, batch, flops, bandwidth):
        return np.max([2 * parameters * batch / flops, (2 * parameters + batch * cache) / bandwidth])


@wrong("values-forgotten", 4.5)
def keys_only():
    def cached(layers, heads, kv_heads, width, length):
        return 2 * layers * kv_heads * width * length


@wrong("one-layer", 4.5)
def one_layer():
    def cached(layers, heads, kv_heads, width, length):
        return 4 * kv_heads * width * length


@wrong("query-heads-cached", 4.5)
def every_head():
    def cached(layers, heads, kv_heads, width, length):
        return 4 * layers * heads * width * length


@wrong("four-bytes-each", 4.5)
def float32():
    def cached(layers, heads, kv_heads, width, length):
        return 8 * layers * kv_heads * width * length


@wrong("weights-for-each-sequence", 3.5)
def each_reads():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max(batch * (2 * parameters + cache) / bandwidth, 2 * parameters * batch / flops)


@wrong("one-cache-for-all", 3.5)
def shared_cache():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max((2 * parameters + cache) / bandwidth, 2 * parameters * batch / flops)


@wrong("cache-not-read", 3.5)
def weights_only():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max(2 * parameters / bandwidth, 2 * parameters * batch / flops)


@wrong("times-added", 3.5)
def added():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return (2 * parameters + batch * cache) / bandwidth + 2 * parameters * batch / flops


@wrong("shorter-of-the-two", 3.5)
def shorter():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return min((2 * parameters + batch * cache) / bandwidth, 2 * parameters * batch / flops)


@wrong("one-flop-a-weight", 3.5)
def half_the_flops():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max((2 * parameters + batch * cache) / bandwidth, parameters * batch / flops)


@wrong("only-reading", 3.5)
def one_row():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max((2 * parameters + batch * cache) / bandwidth, 2 * parameters / flops)


@wrong("bytes-of-weights", 3.5)
def one_byte():
    def seconds(parameters, cache, batch, flops, bandwidth):
        return max((parameters + batch * cache) / bandwidth, 2 * parameters * batch / flops)
