# failed: batch-cut-too-little
# points: 6.5
"""Copies by twos; two meshes in one program."""

import jax

import shardlab as sl

data_parallel = {"X": "b x -> b* 2 x", "W1": "... -> * ...", "W2": "... -> * ..."}
tensor_parallel = {"X": "... -> * ...", "W1": "x y -> x y*", "W2": "y z -> y* z"}
both = {"X": "b x -> b@data x", "W1": "x y -> x y@model", "W2": "y z -> y@model z"}


def mlp_on(mesh, X, W1, W2):
    hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@data y@model", mesh)
    return sl.einshard(hidden @ W2, "b z -> b@data z", mesh)
