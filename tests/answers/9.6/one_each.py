# failed: one-head-each
import jax

P = jax.P


def heads(q, kv, n):
    e = q // n
    return [[list(range(d * e, (d + 1) * e)), [d * kv // n]] for d in range(n)]


layout = {"X": P(), "Wq": P(None, ("kv", "rep")), "Wk": P(None, "kv"), "Wv": P(None, "kv"), "Wo": P(("kv", "rep"))}
