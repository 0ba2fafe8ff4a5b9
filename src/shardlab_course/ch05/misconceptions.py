"""Chapter 5's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from shardlab_course.ch05 import oracles as of
from shardlab_judge.cases import axes
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception
from shardlens import Placement, Spec, place

MATRIX, CUBE, DATA_MODEL = (16, 24), (8, 4, 16), axes(data=4, model=2)


def _at(spec: Spec, shape: tuple[int, ...] = MATRIX, **sizes: int) -> Placement:
    return place(shape, axes(**sizes), spec)


WORDS = (
    "Words on the right stand in the order of the devices, the slowest first; on the left, in the order of the dimensions."
)
COPIES = "Where a bare number stands decides which devices hold the same: first, it is the slowest; last, neighbours agree."
GROUPS = "The parts of a repeated name are cut in the order of the words; what stands between them lies between them."
TUPLE = "In the tuple that is asked for the other axis stands first; the first is the slowest, in P and behind @ alike."
DEFAULT = Misconception(
    "copies-by-default", "Without a star the numbers must make up all devices: copies are written as a bare "
    "number or star.", 1, error="numbers-do-not-multiply")  # fmt: skip
NO_MESH = Misconception("axes-without-mesh", "This one has no mesh to name: write numbers.", 1, error="mesh-missing")

EXPRESSIONS: dict[str, tuple[Misconception, ...]] = {
    "a": (Misconception("words-in-order-of-dimensions", WORDS, 2, like=_at(("y", "x"), y=4, x=2)),
          Misconception(
              "entries-taken-for-axes", "The first entry of P is for the first dimension: rows go over y, of size 4, and "
              "columns over x. Here rows go over x.", 1, like=_at(("x", "y"), x=2, y=4)), NO_MESH),
    "b": (Misconception("copies-in-the-wrong-place", COPIES, 2, like=_at(("y",), y=4, x=2)), DEFAULT, NO_MESH),
    "c": (Misconception("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), x=2, z=2, y=2)),
          Misconception("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), y=2, x=2, z=2)), NO_MESH),
    "d": (DEFAULT, NO_MESH),
    "e": (Misconception("axes-in-mesh-order", TUPLE, 3, like=_at((("data", "model"),), data=4, model=2)),),
    "f": (Misconception(
        "other-axis-named", "It lies over 'data'; the spec names 'model'.", 1,
        like=_at((None, None, "data"), CUBE, data=4, model=2)),
          Misconception(
              "ellipsis-ignored", "The spec has None twice before 'model': the last dimension is cut, not the first.", 1,
              like=_at(("model",), CUBE, data=4, model=2))),
}  # fmt: skip
SPECS: dict[str, tuple[Misconception, ...]] = {
    "g": (Misconception("copies-in-the-wrong-place", COPIES, 2, like=_at((None, "y"), y=4, x=2)),
          Misconception(
              "words-in-order-of-dimensions", "The rows are cut here. c is the second dimension, since it is second on the "
              "left; the order on the right is that of the mesh.", 1, like=_at(("y",), x=2, y=4))),
    "h": (Misconception(
        "star-takes-what-is-left", "All stars share one ratio: here 8 / 2 = 4 is 2 * 2, so r2* is 4 and c* is 2.", 2,
        like=_at(("x", "y"), x=2, y=4)),),
    "i": (Misconception("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), x=2, z=2, y=2)),
          Misconception(
              "axes-in-another-order", "The words of r are cut in their order, the slower axis first; here the faster axis "
              "is first in the tuple.", 2, like=_at((("z", "x"), "y"), x=2, y=2, z=2))),
    "j": (Misconception(
        "ellipsis-ignored", "'...' stands for the dimensions before d, so d is the last, not the first.", 1,
        like=_at(("y",), CUBE, x=4, y=2)),
          Misconception("copies-in-the-wrong-place", COPIES, 2, like=_at((None, None, "y"), CUBE, y=2, x=4))),
    "k": (Misconception(
        "axes-split-up", "Both axes stand behind b: one dimension over two axes, an inner tuple in P.", 1,
        like=_at(("data", "model"), (16, 4, 6), data=4, model=2)),
          Misconception("axes-in-mesh-order", TUPLE, 3, like=_at((("model", "data"),), (16, 4, 6), data=4, model=2))),
    "l": (Misconception("copies-in-the-wrong-place", COPIES, 2, like=_at((None, "y"), y=2, x=4)),),
}  # fmt: skip

MINI = (
    Misconception(
        "root-of-floats", "64 ** (1 / 3) is 3.9999999999999996: int() cuts it to 3, and is_integer() says no. Take roots in "
        "whole numbers.", 3, like=of.mistaken(truncate=True)),
    Misconception(
        "number-of-star-forgotten", "A starred word is its number times the ratio, so the starred numbers divide the "
        "share, too, before the root.", 2, like=of.mistaken(bare=True)),
    Misconception(
        "one-word-wins", "A name that is repeated on the right is cut by all its words, not by the last.", 2,
        like=of.mistaken(keep=slice(-1, None))),
    Misconception(
        "one-word-wins", "A name that is repeated on the right is cut by all its words, not by the first.", 2,
        like=of.mistaken(keep=slice(1))),
    Misconception(
        "divides-without-stars", "\"numbers-do-not-divide\" is for expressions with stars; without one, numbers that do "
        "not make n do not multiply.", 1, like=of.mistaken(divide=True)),
    Misconception(
        "copies-by-default", "Without a star the numbers must make up all devices: copies have to be written.", 1,
        like=of.mistaken(lenient=True)),
)  # fmt: skip

RULES = (
    Misconception(
        "general-rule-first", "The first rule that matches decides; a rule above takes all leaves of the one that is left "
        "over. Put the special before the general. It may also be that the rule above finds more than it should: 'k' and "
        "'o' are in 'blocks'.", 1, error="rule-never-used(?s:.)*earlier rule"),
    Misconception(
        "pattern-finds-nothing", "No path has this pattern in it: compare it, letter by letter, with the paths in the dry "
        "run.", 1, error="rule-never-used"),
    Misconception(
        "leaf-forgotten", "Some leaves match no rule. Say also how these lie, cut or whole.", 1, error="leaf-without-rule"),
    Misconception(
        "pattern-found-elsewhere", "This leaf has another number of dimensions than its rule. Is it meant? A pattern is "
        "found anywhere in the path: 'k' is in 'blocks', 'up' finds a kernel and a bias.", 2, error="rank-does-not-fit"),
    Misconception(
        "nothing-cut", "No leaf is cut: every device holds the whole model.", 2,
        like=lambda cuts: all(set(parts) <= {1} for parts in cuts.values())),
    Misconception(
        "up-by-rows", "up makes the hidden width, its second dimension: cut that one, as down cuts its first.", 3,
        like=of.any_leaf("up/kernel", (1, 0))),
    Misconception(
        "down-by-columns", "down gets what up has cut, so its rows must be cut like the columns of up.", 3,
        like=of.any_leaf("down/kernel", (0, 1))),
    Misconception(
        "heads-not-cut", "In q, k and v the heads are the second dimension; here the width is cut, which every head reads "
        "whole.", 2, like=lambda cuts: any(of.any_leaf(f"{name}/kernel", (1, 0, 0))(cuts) for name in "qkv")),
    Misconception(
        "o-by-columns", "o gets the heads that q, k and v have cut: its first dimension, not its last.", 3,
        like=of.any_leaf("o/kernel", (0, 0, 1))),
    Misconception(
        "bias-left-whole", "The bias of up is added to columns that are cut over 'model', so it is cut with them.", 3,
        like=of.any_leaf("up/bias", (0,))),
    Misconception(
        "bias-cut-too-much", "The bias of down is added to the whole width, after the sum: it stays whole.", 3,
        like=of.any_leaf("down/bias", (1,))),
    Misconception(
        "embedding-by-columns", "The vocabulary is the first dimension of the table; here the width is cut.", 2,
        like=of.any_leaf("embed/table", (0, 1))),
    Misconception(
        "scale-cut", "A norm acts on the whole width, and so its scale stays whole.", 2, like=of.any_leaf("/scale", (1,))),
)  # fmt: skip

NUMBERED = Misconception(
    "degree-in-the-expression", "Numbers and stars do not follow the mesh: name its axes, and each mesh says "
    "how many devices they have.", 1, when=of.numbered)  # fmt: skip
BY_ROWS = Misconception(
    "first-weight-by-rows", "W1 is cut along x. Then the sum comes a layer too early, over the wide hidden layer, or W1 "
    "itself has to be moved. Cut y in both weights, and x in none.", 2, when=lambda o: of.cut(o, 1, 0))  # fmt: skip
X_BY_COLUMNS = Misconception(
    "input-by-columns", "X is cut along x: a device has parts of rows, and the columns of W1 need whole "
    "rows.", 2, when=lambda o: of.cut(o, 0, 1))  # fmt: skip
WHOLE = Misconception(
    "weights-whole", "Nothing is cut in the weights: every device holds them all.", 1,
    when=lambda o: not of.weights_cut(o))  # fmt: skip
BY_COLUMNS = Misconception(
    "second-weight-by-columns", "Cut along z, W2 needs the whole hidden layer, and the output comes out in "
    "columns.", 2, when=lambda o: of.cut(o, 2, 1))  # fmt: skip
ONE_WEIGHT = (
    Misconception(
        "second-weight-whole", "W1 is cut and W2 is not. A device may take its rows of W2 out of a whole copy, but then it "
        "has to hold the copy. And where a mesh axis lies idle, XLA gathers the hidden layer instead.", 1,
        when=lambda o: of.cut(o, 1, 1) and not of.cut(o, 2, 0) and of.apart(o, 1, 1)),
    Misconception(
        "first-weight-whole", "W2 is cut and W1 is not. A device may take its columns of W1 out of a whole copy, but then "
        "it has to hold the copy. And where a mesh axis lies idle, it may do more of the work than its part.", 1,
        when=lambda o: of.cut(o, 2, 0) and not of.cut(o, 1, 1) and of.apart(o, 2, 0)),
)  # fmt: skip
BOTH = (
    NUMBERED,
    Misconception(
        "batch-over-all", "The batch is cut over both axes. The devices along 'model' share the same rows of X, and cut "
        "the weights.", 2, when=lambda o: set(of.over(o, 0, 0)) == {"data", "model"}),
    Misconception(
        "batch-over-model", "The batch is cut over 'model', and it belongs over 'data'; y, in the weights, is for "
        "'model'.", 2, when=lambda o: of.over(o, 0, 0) == ("model",)),
    BY_ROWS,
    X_BY_COLUMNS,
    Misconception(
        "batch-not-cut", "b is not cut in X: every device has the whole batch. Cut b over 'data'.", 1,
        when=lambda o: not of.cut(o, 0, 0)),
    WHOLE,
    BY_COLUMNS,
    *ONE_WEIGHT,
)  # fmt: skip
"""Of layouts on a mesh with the axes `data` and `model`; `ONE_WEIGHT` holds where X is as it should be."""

KINDS = (Misconception(
    "degree-adds-a-collective", "The program is the same and its sums are still over one axis; only its size "
    "changed.", 1, like=lambda got: isinstance(got, list) and got != ["all-reduce"]),)  # fmt: skip
FACTOR = (
    Misconception(
        "payload-unchanged", "An all-reduce moves the rows of one data shard, and with 2 of these instead of 4 they are "
        "twice as many.", 2, like=1),
    Misconception(
        "payload-halved", "Weights are cut finer, and they are not what moves; the rows of a data shard are, and they "
        "doubled.", 2, like=0.5),
)  # fmt: skip

SAYABLE = (
    Misconception(
        "order-in-numbers", "Numbers cut the devices in their order, and a repeated name takes its words in that order: "
        "b needs a mesh.", 2, like=lambda said: said["b"] == "numbers"),
    Misconception(
        "devices-in-numbers", "Numbers are for all devices in the order of jax.devices(); c and d have another order, or "
        "fewer. The mesh knows, the expression only names its axes.",
        2, like=lambda said: "numbers" in (said["c"], said["d"])),
    Misconception(
        "mesh-cannot-be-given", "A mesh may be given, with any order of devices and with fewer of them, and an expression "
        "names its axes, in any order (b, c, d).", 2, like=lambda said: "nothing" in (said["b"], said["c"], said["d"])),
    Misconception(
        "sums-as-copies", "A partial sum (e) is no copy: an expression says who holds which slice, and not that slices "
        "still have to be added.", 1, like=lambda said: said["e"] in ("numbers", "axes")),
    Misconception(
        "one-device-in-numbers", "An array made without further words (f) lies on one device, and numbers take all of them.",
        3, like=lambda said: said["f"] == "numbers"),
    Misconception(
        "one-device-is-no-mesh", "A mesh may be given with one device, and then an expression says where f lies.", 3,
        like=lambda said: said["f"] == "nothing"),
    Misconception(
        "copies-cannot-be-said", "A bare number says copies (g and h).", 1,
        like=lambda said: any(said[letter] in ("axes", "nothing") for letter in "gh")),
    Misconception(
        "groups-cannot-be-said", "A name may be repeated: r2 c2 r2 (i).", 3,
        like=lambda said: said["i"] in ("axes", "nothing")),
    Misconception(
        "grid-needs-a-mesh", "All devices, in their order, one axis for each dimension: r2 c4 makes that mesh (a).", 1,
        like=lambda said: said["a"] in ("axes", "nothing")),
)  # fmt: skip
BACKWARDS = (
    Misconception(
        "order-left-to-devices", "Block 0 is on device 0. The order of the devices belongs to the mesh: give it one that "
        "starts with device 7.", 2, like=place((16, 4), axes(x=8), ("x",))),
    Misconception(
        "still-a-text", "It is an expression, still a text: sl.make_sharding makes a sharding of it, on a mesh.", 3,
        error="str has no sharding"),
)  # fmt: skip

STARS = (
    Misconception(
        "copies-by-default", "Nothing on the right says how many devices there are: copies are written, too, as a star.", 2,
        error="no number stands on the right"),
    Misconception(
        "number-of-devices-written", "A number of devices is written in an expression, and the check uses several: a star "
        "fits them all.", 2, error="numbers-do-not|parts-do-not"),
)  # fmt: skip
DATA = (
    Misconception(
        "input-by-columns", "X is cut along x, and not along b: a device has parts of all rows instead of whole rows.", 1,
        when=lambda o: of.cut(o, 0, 1)),
    Misconception(
        "weights-instead", "The weights are cut and the batch is not. In data parallelism it is the other way round.", 1,
        when=lambda o: not of.cut(o, 0, 0) and of.weights_cut(o)),
    Misconception(
        "batch-not-cut", "Every device holds the whole batch, so every device does all the work. Cut b.", 1,
        when=lambda o: not of.cut(o, 0, 0)),
    Misconception(
        "weights-cut", "In data parallelism every device has all weights. Here some are cut: something has to be moved, or "
        "devices do the same work.", 1, when=of.weights_cut),
    Misconception(
        "batch-cut-too-little", "The batch is cut into fewer parts than there are devices: some do the same work.", 2,
        when=lambda o: of.cut(o, 0, 0)),
    *STARS,
)  # fmt: skip
TENSOR = (
    BY_ROWS,
    Misconception(
        "batch-cut", "The batch is cut. In tensor parallelism every device has the whole batch, and a part of the "
        "weights.", 2, when=lambda o: of.cut(o, 0, 0)),
    X_BY_COLUMNS,
    WHOLE,
    BY_COLUMNS,
    *ONE_WEIGHT,
    *STARS,
)  # fmt: skip
INSIDE = (
    Misconception(
        "relu-forgotten", "These are the values without the relu between the two products.", 1,
        like=lambda X, W1, W2: X @ W1 @ W2),
    Misconception(
        "nothing-constrained", "The arguments come whole, and nothing says otherwise: every device computes everything.", 1,
        when=lambda o: not o.collectives and not of.cut_output(o)),
    Misconception(
        "output-by-columns", "The output is cut along z, too. Only its batch is asked for, over 'data'.", 2,
        when=lambda o: of.output_parts(o)[1] > 1),
    Misconception(
        "batch-over-all", "The batch of the output is cut over both axes. It is asked for over 'data': the devices along "
        "'model' share the same rows, and cut the weights.",
        2, when=lambda o: of.output_parts(o)[0] > max(dict(o.case.axes).values())),
    Misconception(
        "batch-over-model", "The batch is cut over 'model', and it belongs over 'data'; y, in the weights, is for "
        "'model'.", 2, when=lambda o: of.output_parts(o)[0] not in (1, dict(o.case.axes)["data"])),
    Misconception(
        "weights-not-cut", "The batch is cut and the weights are not: the devices of a row of the mesh all do the same "
        "work.", 2, when=lambda o: not o.collectives),
    Misconception(
        "second-weight-left-open", "W2 is not cut. While the output is narrower than the hidden layer, and the batch is cut "
        "over 'data', XLA takes rows of W2 all the same. Here it is as wide or wider: XLA, for CPU and for v5e, gathers the "
        "hidden layer, which is fewer bytes, and every device along 'model' computes the same second product. Constrain W2, "
        "too.", 2,
        when=of.second_left_open),
    Misconception(
        "hidden-layer-moves", "The hidden layer is moved. Cut y in both weights, and in the hidden layer if you constrain "
        "it: then only the output is summed.", 2, when=of.hidden_moves),
)  # fmt: skip

MECHANISM = why(
    "What sets the factor?",
    a=Believed(
        "How many devices add: a sum of more terms moves more.",
        "terms-are-bytes",
        "A sum is as large as one of its terms, however many there are. What grew are the terms themselves: more rows.",
    ),
    b=Believed(
        "How much of the weights a device has: half of them, so it sends half.",
        "weights-are-sent",
        "The ledger shows more bytes, not fewer: weights stay where they are, and rows of the output are added.",
    ),
    c="How many rows each replica has: they are what is added up, and fewer replicas have more of them.",
)
