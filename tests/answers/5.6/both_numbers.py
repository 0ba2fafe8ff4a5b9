# failed: degree-in-the-expression
# points: 7
"""Numbers on a mesh with names."""

import jax

import shardlab as sl

data_parallel = {"X": "b x -> b* x", "W1": "... -> * ...", "W2": "... -> * ..."}
tensor_parallel = {"X": "... -> * ...", "W1": "x y -> x y*", "W2": "y z -> y* z"}
both = {"X": "b x -> b4 2 x", "W1": "x y -> 4 x y2", "W2": "y z -> 4 y2 z"}


def mlp_on(mesh, X, W1, W2):
    hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@data y@model", mesh)
    return sl.einshard(hidden @ W2, "b z -> b@data z", mesh)
