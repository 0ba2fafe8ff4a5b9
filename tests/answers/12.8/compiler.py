# failed: left-to-the-compiler
# points: 1.5
import jax

import shardlab as sl

P = jax.P


predictions = sl.predict("12.8", first="SyntaxError", second="AttributeError", decides="d")


def overlapped(mesh, X, W):
    return (X @ W) @ X.T
