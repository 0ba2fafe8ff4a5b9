import jax

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("all-heads-everywhere", 11)
def all_kv_heads():
    def heads(q, kv, n):
        each = q // n
        found = []
        for device in range(n):
            own = list(range(device * each, (device + 1) * each))
            found.append([own, list(range(kv))])
        return found


@wrong("listed-more-than-once")
def duplicates():
    def heads(q, kv, n):
        e = q // n
        return [[list(range(d * e, (d + 1) * e)), [h * kv // q for h in range(d * e, (d + 1) * e)]] for d in range(n)]


@wrong("heads-in-turn", 11)
def heads_in_turn():
    def heads(q, kv, n):
        each = q // n
        found = []
        for device in range(n):
            own = list(range(device * each, (device + 1) * each))
            found.append([own, sorted({head % kv for head in own})])
        return found


@wrong("input-cut", 13.5)
def input_cut():
    layout["X"] = P(None, "rep")


@wrong("heads-cut-inside", 8)
def inside_a_head():
    layout = {
        "X": P(),
        "Wq": P(None, None, "rep"),
        "Wk": P(None, None, "rep"),
        "Wv": P(None, None, "rep"),
        "Wo": P(None, "rep"),
    }


@wrong("keys-cut-too-finely", 13.5)
def keys_by_input():
    layout["Wk"] = P("rep", "kv")
    layout["Wv"] = P("rep", "kv")


@wrong("kv-heads-dealt-out", 11)
def kv_heads_dealt_out():
    def heads(q, kv, n):
        each = q // n
        found = []
        for device in range(n):
            own = list(range(device * each, (device + 1) * each))
            found.append([own, list(range(device * kv // n, (device + 1) * kv // n))])
        return found


@wrong("kv-whole", 13.5)
def kv_whole():
    layout["Wk"] = P()
    layout["Wv"] = P()


@right
def longer_specs():
    def heads(q, kv, n):
        found = [[[], []] for _ in range(n)]
        for head in range(q):
            own, read = found[head // (q // n)]
            own.append(head)
            if head // (q // kv) not in read:
                read.append(head // (q // kv))
        return found

    layout = {
        "X": P(None, None),
        "Wq": P(None, ("kv", "rep"), None),
        "Wk": P(None, "kv", None),
        "Wv": P(None, "kv", None),
        "Wo": P(("kv", "rep"), None, None),
    }


@right
def numpy_arrays():
    import numpy as np

    def heads(q, kv, n):
        own = np.arange(q).reshape(n, -1)
        read = np.repeat(np.arange(kv), q // kv).reshape(n, -1)
        return [(o, np.unique(r)) for o, r in zip(own, read)]


@wrong("one-head-each")
def one_each():
    def heads(q, kv, n):
        e = q // n
        return [[list(range(d * e, (d + 1) * e)), [d * kv // n]] for d in range(n)]


@wrong("queries-over-kv-only", 11.5)
def queries_over_kv():
    layout["Wq"] = P(None, "kv")
    layout["Wo"] = P("kv")


@wrong("axes-in-wrong-order", 11.5)
def rep_first():
    layout["Wq"] = P(None, ("rep", "kv"))
    layout["Wo"] = P(("rep", "kv"))


@wrong("output-weight-not-by-heads")
def wo_whole():
    import numpy as np

    def heads(q, kv, n):
        own = np.arange(q).reshape(n, -1)
        read = np.repeat(np.arange(kv), q // kv).reshape(n, -1)
        return [[list(o), list(np.unique(r))] for o, r in zip(own, read)]

    layout = {"X": P(), "Wq": P(None, ("kv", "rep")), "Wk": P(None, "kv"), "Wv": P(None, "kv"), "Wo": P()}


@wrong("queries-over-kv-only", 13.5)
def only_wq_over_kv():
    layout["Wq"] = P(None, "kv")


@wrong("groups-on-one-device", 11)
def as_many_as_fit():
    """As many kv heads as whole groups of query heads fit on a device."""

    def heads(q, kv, n):
        e, g = q // n, q // kv
        keys = [range(d * e // g, d * e // g + max(1, e // g)) for d in range(n)]
        return [[list(range(d * e, d * e + e)), list(keys[d])] for d in range(n)]


@wrong("even-share-of-kv-heads", 11)
def even_or_one():
    """An even share of the kv heads, and at least one."""

    def heads(q, kv, n):
        e = q // n
        keys = [range(d * kv // n, max(d * kv // n + 1, (d + 1) * kv // n)) for d in range(n)]
        return [[list(range(d * e, d * e + e)), list(keys[d])] for d in range(n)]


@right
def from_first_to_last():
    """The kv heads between those of the first and of the last query head."""

    def heads(q, kv, n):
        e, g = q // n, q // kv
        keys = [range(d * e // g, (d * e + e - 1) // g + 1) for d in range(n)]
        return [[list(range(d * e, d * e + e)), list(keys[d])] for d in range(n)]
