# failed: listed-more-than-once
import jax

P = jax.P


def heads(q, kv, n):
    e = q // n
    return [[list(range(d * e, (d + 1) * e)), [h * kv // q for h in range(d * e, (d + 1) * e)]] for d in range(n)]


layout = {"X": P(), "Wq": P(None, ("kv", "rep")), "Wk": P(None, "kv"), "Wv": P(None, "kv"), "Wo": P(("kv", "rep"))}
