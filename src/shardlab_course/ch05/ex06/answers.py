import jax

import shardlab as sl
from shardlab_course.answers import right, wrong


@wrong("second-weight-by-columns", 9)
def columns():
    """The second weight is cut along z."""
    tensor_parallel = {"X": "... -> * ...", "W1": "... -> * ...", "W2": "y z -> y z*"}


@wrong("batch-cut-too-little", 9)
def data_half():
    """Copies by twos; two meshes in one program."""
    data_parallel = {"X": "b x -> b* 2 x", "W1": "... -> * ...", "W2": "... -> * ..."}


@wrong("copies-by-default", 8)
def data_open():
    """Copies are not written."""
    data_parallel = {"X": "b x -> b* x", "W1": "x y -> x y", "W2": "y z -> y z"}


@wrong("weights-instead", 10)
def data_weights():
    """Tensor parallelism for data parallelism."""
    data_parallel = {"X": "... -> * ...", "W1": "x y -> x y*", "W2": "y z -> y* z"}


@wrong("input-by-columns", 8)
def data_x():
    """X is cut along x."""
    data_parallel = {"X": "b x -> b x*", "W1": "... -> * ...", "W2": "... -> * ..."}


@wrong("second-weight-left-open", 11)
def hidden_constrained():
    """One constraint in the middle."""

    def mlp_on(mesh, X, W1, W2):
        hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@data y@model", mesh)
        return sl.einshard(hidden @ W2, "b z -> b@data z", mesh)


@wrong("batch-over-all", 11)
def inside_all():
    """The batch over both axes."""

    def mlp_on(mesh, X, W1, W2):
        hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@(data model) y", mesh)
        return sl.einshard(hidden @ W2, "b z -> b@(data model) z", mesh)


@wrong("batch-over-model", 9)
def inside_swapped():
    """The axes the other way round."""

    def mlp_on(mesh, X, W1, W2):
        hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@model y@data", mesh)
        return sl.einshard(hidden @ W2, "b z -> b@model z", mesh)


@wrong("output-by-columns", 10)
def inside_columns():
    """The output is left in columns."""

    def mlp_on(mesh, X, W1, W2):
        hidden = sl.einshard(jax.nn.relu(X @ W1), "b y -> b@data y", mesh)
        return sl.einshard(hidden @ W2, "b z -> b@data z@model", mesh)


@wrong("hidden-layer-moves", 10)
def inside_gathered():
    """W2 is cut along z."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        W1 = sl.einshard(W1, "x y -> x y@model", mesh)
        W2 = sl.einshard(W2, "y z -> y z@model", mesh)
        return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)


@wrong("hidden-layer-moves", 10)
def inside_rows():
    """W1 is cut along x."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        W1 = sl.einshard(W1, "x y -> x@model y", mesh)
        return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)


@right
def mesh_of_the_array():
    """One call takes the mesh from the array."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x")
        W1 = sl.einshard(W1, "x y -> x y@model", mesh)
        W2 = sl.einshard(W2, "y z -> y@model z", mesh)
        Y = jax.nn.relu(X @ W1) @ W2
        return sl.einshard(Y, "b z -> b@data z", mesh)


@wrong("second-weight-left-open", 11)
def second_unplaced():
    """X and W1 are placed."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        W1 = sl.einshard(W1, "x y -> x y@model", mesh)
        return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)


@right
def second_placed_alone():
    """W2 and the output are placed; what stands before follows."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        W2 = sl.einshard(W2, "y z -> y@model z", mesh)
        return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)


@wrong("relu-forgotten", 8)
def no_relu():
    """Two products and no relu."""

    def mlp_on(mesh, X, W1, W2):
        hidden = sl.einshard(X @ W1, "b y -> b@data y@model", mesh)
        return sl.einshard(hidden @ W2, "b z -> b@data z", mesh)


@wrong("number-of-devices-written", 8)
def number_written():
    """A number that fits 8 devices only."""
    data_parallel = {"X": "b x -> b8 x", "W1": "... -> * ...", "W2": "... -> * ..."}


@right
def other_words():
    """The same in other words, and with constraints of JAX."""
    data_parallel = {"X": "b x -> b* 1 x", "W1": "x y -> * x y", "W2": "... -> * ..."}

    def mlp_on(mesh, X, W1, W2):
        def put(array, *spec):
            return jax.lax.with_sharding_constraint(array, jax.NamedSharding(mesh, jax.P(*spec)))

        X, W1, W2 = put(X, "data"), put(W1, None, "model"), put(W2, "model")
        return put(jax.nn.relu(X @ W1) @ W2, "data")


@wrong("weights-not-cut", 11)
def output_only():
    """The weights stay whole."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        return sl.einshard(jax.nn.relu(X @ W1) @ W2, "b z -> b@data z", mesh)


@wrong("first-weight-by-rows", 9)
def rows():
    """The first weight is cut along x."""
    tensor_parallel = {"X": "... -> * ...", "W1": "x y -> x* y", "W2": "... -> * ..."}


@wrong("second-weight-whole", 11)
def second_whole():
    """Only W1 is cut."""
    tensor_parallel = {"X": "... -> * ...", "W1": "x y -> x y*", "W2": "... -> * ..."}


@wrong("batch-cut", 11)
def tensor_batch():
    """The batch is cut, too."""
    tensor_parallel = {"X": "b x -> b* x", "W1": "x y -> x y*", "W2": "y z -> y* z"}


@wrong("first-weight-whole", 11)
def tensor_first_whole():
    """Only W2 is cut."""
    tensor_parallel = {"X": "... -> * ...", "W1": "... -> * ...", "W2": "y z -> y* z"}


@wrong("nothing-constrained", 10)
def unconstrained():
    """Nothing is said."""

    def mlp_on(mesh, X, W1, W2):
        return jax.nn.relu(X @ W1) @ W2


@wrong("weights-cut", 11)
def weights_cut():
    """Weights are cut to save memory."""
    data_parallel = {"X": "b x -> b* x", "W1": "x y -> x* y", "W2": "... -> * ..."}


@wrong("weights-whole", 10)
def weights_whole():
    """No weight is cut."""
    tensor_parallel = {"X": "... -> * ...", "W1": "... -> * ...", "W2": "... -> * ..."}


@wrong("batch-not-cut", 9)
def whole_batch():
    """Everything is copied."""
    data_parallel = {"X": "... -> * ...", "W1": "... -> * ...", "W2": "... -> * ..."}


@wrong("-", 11)
def work_in_a_loop():
    """The network twenty times, and its last output: the arithmetic hides in a loop."""

    def mlp_on(mesh, X, W1, W2):
        X = sl.einshard(X, "b x -> b@data x", mesh)
        W1 = sl.einshard(W1, "x y -> x y@model", mesh)
        W2 = sl.einshard(W2, "y z -> y@model z", mesh)
        again = lambda i, s: (s[0] + 0 * s[0], jax.nn.relu(s[0] @ W1))
        hidden = jax.lax.fori_loop(0, 20, again, (X, jax.nn.relu(X @ W1)))[1]
        return sl.einshard(hidden @ W2, "b z -> b@data z", mesh)


@wrong("weights-cut", 10)
def dp_z():
    data_parallel = {"X": "b x -> b* 2 x", "W1": "... -> * ...", "W2": "y z -> * y z2"}
