# failed: hidden-layer-moves
# points: 7
"""W2 is cut along z."""

import jax

import shardlab as sl

data_parallel = {"X": "b x -> b* x", "W1": "... -> * ...", "W2": "... -> * ..."}
tensor_parallel = {"X": "... -> * ...", "W1": "x y -> x y*", "W2": "y z -> y* z"}
both = {"X": "b x -> b@data x", "W1": "x y -> x y@model", "W2": "y z -> y@model z"}


def mlp_on(mesh, X, W1, W2):
    X = sl.einshard(X, "b x -> b@data x", mesh)
    W1 = sl.einshard(W1, "x y -> x y@model", mesh)
    W2 = sl.einshard(W2, "y z -> y z@model", mesh)
    return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)
