# failed: heads-cut-inside
# points: 2
import jax

P = jax.P


def heads(q, kv, n):
    each = q // n
    found = []
    for device in range(n):
        own = list(range(device * each, (device + 1) * each))
        found.append([own, sorted({head * kv // q for head in own})])
    return found


layout = {
    "X": P(),
    "Wq": P(None, None, "rep"),
    "Wk": P(None, None, "rep"),
    "Wv": P(None, None, "rep"),
    "Wo": P(None, "rep"),
}
