import math

from shardlab_course.answers import right, wrong


@right
def another_way():
    def steps(n):
        return {"ring": 2 * (n - 1), "tree": 2 * math.ceil(math.log2(n))}

    def seconds(V, n, bandwidth, latency):
        count = steps(n)
        return {"ring": count["ring"] * max(latency, V / n / bandwidth), "tree": count["tree"] * max(latency, V / bandwidth)}


@wrong("latency-and-bytes-added", 6)
def added():
    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * (latency + V / n / bandwidth), "tree": tree * (latency + V / bandwidth)}


@right
def bits_and_search():
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


@wrong("chunk-instead-of-array", 6)
def chunk():
    def crossover(n, bandwidth, latency):
        return n * latency * bandwidth


@wrong("hops-of-a-closed-ring", 6)
def closed():
    def steps(n):
        return {"ring": 2 * n, "tree": 2 * math.ceil(math.log2(n))}

    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / n / bandwidth), "tree": tree * max(latency, V / bandwidth)}


@wrong("tree-as-deep-as-wide", 6)
def linear():
    def steps(n):
        return {"ring": 2 * (n - 1), "tree": 2 * (n - 1)}

    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / n / bandwidth), "tree": tree * max(latency, V / bandwidth)}


@wrong("one-phase-only", 6)
def once():
    def steps(n):
        return {"ring": n - 1, "tree": math.ceil(math.log2(n))}

    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / n / bandwidth), "tree": tree * max(latency, V / bandwidth)}


@wrong("latency-of-one-hop", 6)
def one_hop():
    def crossover(n, bandwidth, latency):
        return latency * bandwidth


@wrong("ring-sends-everything", 6)
def ring_of_arrays():
    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / bandwidth), "tree": tree * max(latency, V / bandwidth)}


@wrong("logarithm-rounded-down", 6)
def rounded_down():
    def steps(n):
        return {"ring": 2 * (n - 1), "tree": 2 * int(math.log2(n))}

    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / n / bandwidth), "tree": tree * max(latency, V / bandwidth)}


@wrong("tree-sends-chunks", 6)
def tree_of_chunks():
    def seconds(V, n, bandwidth, latency):
        ring, tree = 2 * (n - 1), 2 * math.ceil(math.log2(n))
        return {"ring": ring * max(latency, V / n / bandwidth), "tree": tree * max(latency, V / n / bandwidth)}
