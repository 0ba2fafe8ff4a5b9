# failed: chunk-instead-of-array
# points: 2
import math


def steps(n):
    return {"ring": 2 * (n - 1), "tree": 2 * math.ceil(math.log2(n))}


def seconds(V, n, bandwidth, latency):
    count = steps(n)
    return {"ring": count["ring"] * max(latency, V / n / bandwidth),
            "tree": count["tree"] * max(latency, V / bandwidth)}


def crossover(n, bandwidth, latency):
    return n * latency * bandwidth
