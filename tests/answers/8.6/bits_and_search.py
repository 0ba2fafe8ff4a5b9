# passed
# points: 3
def steps(n):
    return {"ring": 2 * n - 2, "tree": 2 * (n - 1).bit_length()}


def seconds(V, n, bandwidth, latency):
    sizes = {"ring": V / n, "tree": V}
    return {way: count * max(latency, sizes[way] / bandwidth) for way, count in steps(n).items()}


def crossover(n, bandwidth, latency):
    low, high = 0, 1e15
    for _ in range(200):
        middle = (low + high) / 2
        times = seconds(middle, n, bandwidth, latency)
        low, high = (middle, high) if times["tree"] < times["ring"] else (low, middle)
    return high
