# failed: keys-cut-too-finely
# points: 3.5
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
    "Wq": P(None, ("kv", "rep")),
    "Wk": P("rep", "kv"),
    "Wv": P("rep", "kv"),
    "Wo": P(("kv", "rep")),
}
