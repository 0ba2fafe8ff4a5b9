# passed
# points: 4.5
import jax

P = jax.P


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
