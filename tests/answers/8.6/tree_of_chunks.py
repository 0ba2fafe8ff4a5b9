# failed: tree-sends-chunks
# points: 2
import math


def steps(n):
    return {"ring": 2 * (n - 1), "tree": 2 * math.ceil(math.log2(n))}


def seconds(V, n, bandwidth, latency):
    ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
    return {"ring": ring * max(latency, V / n / bandwidth),
            "tree": tree * max(latency, V / n / bandwidth)}


def crossover(n, bandwidth, latency):
    return (n - 1) / math.ceil(math.log2(n)) * latency * bandwidth
