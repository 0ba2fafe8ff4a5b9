# failed: heads-in-turn
# points: 3
import jax

P = jax.P


def heads(q, kv, n):
    each = q // n
    found = []
    for device in range(n):
        own = list(range(device * each, (device + 1) * each))
        found.append([own, sorted({head % kv for head in own})])
    return found


layout = {
    "X": P(),
    "Wq": P(None, ("kv", "rep")),
    "Wk": P(None, "kv"),
    "Wv": P(None, "kv"),
    "Wo": P(("kv", "rep")),
}
