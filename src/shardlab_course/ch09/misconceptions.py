"""Chapter 9's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from functools import partial

from shardlab_course.ch09 import budget, dropout, layers
from shardlab_course.ch09 import oracles as of
from shardlab_course.shared.guarded import counts, lets_through, one_size
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

PROMISE = Misconception(
    "promise-not-proved",
    "out_specs promises equal copies over an axis over which the type still varies: the terms have not been "
    "added up over it, or an all_gather lacks to='invarying'.",
    2,
    error="can't be statically inferred",
)  # fmt: skip
SPREAD = Misconception(
    "sum-over-the-wrong-axis",
    "The terms differ along `model` alone. Summed over another axis, or once more over `model`, equal copies are counted "
    "again.", 2,
    when=of.multiplied, error="psum can only accept axis_name")  # fmt: skip

COLLECTIVE = (
    Misconception(
        "columns-taken-for-terms",
        "Columns of the hidden layer are finished; nothing has to be added. But columns of W2 need all hidden units.", 1,
        like="all-reduce"),
)  # fmt: skip
FACTOR = (
    Misconception(
        "price-taken-for-payload", "That is the ratio of the prices, where an all-reduce counts twice. Payloads were asked "
        "for.", 1, like=2),
    Misconception(
        "same-size", "The best pair moves an output, as wide as the model; this pair moves the hidden layer.", 1, like=1),
    Misconception(
        "counts-devices", "The gathered array does not depend on how many devices there are: it is whole in the end.", 1,
        like=lambda got: got in (8, 32)),
)  # fmt: skip

FIRST_BY_ROWS = Misconception(
    "first-by-rows", "The first weight is cut along the dimension that is summed. Multiplied so it gives terms, and the "
    "nonlinearity takes sums: either they are added up before it, or the weight itself is sent.", 1,
    when=lambda o: any(of.cut(o, i, 0) for i in range(1, len(o.case.inputs) - 1)))  # fmt: skip
LAST_BY_COLUMNS = Misconception(
    "last-by-columns", "Columns of the last weight need every hidden unit: every device gets "
    "or computes all of the hidden layer.", 1, when=lambda o: of.cut(o, len(o.case.inputs) - 1, 1))  # fmt: skip
LAST_WHOLE = Misconception(
    "last-left-whole", "A device needs only the rows of the last weight that go with its hidden units. Whole, "
    "it takes n times the memory.", 2,
    when=lambda o: of.cut(o, 1, 1) and not of.cut(o, len(o.case.inputs) - 1, 0))  # fmt: skip
WEIGHTS_WHOLE = Misconception(
    "weights-whole",
    "Nothing is cut in the weights: every device holds and computes everything.",
    1,
    when=of.weights_whole,
)  # fmt: skip
INPUT_CUT = Misconception(
    "input-cut", "X is cut: so X or a weight has to be sent before a product, or Y is left in pieces.", 2,
    when=lambda o: of.cut(o, 0, 0) or of.cut(o, 0, 1))  # fmt: skip
DATA_PARALLEL = Misconception(
    "tokens-cut-weights-whole",
    "Tokens are cut and the weights are whole: that is data parallelism. Each device holds all weights, and Y would be left "
    "in pieces.",
    2,
    when=lambda o: of.cut(o, 0, 0) and of.weights_whole(o),
)  # fmt: skip
PLAIN = (FIRST_BY_ROWS, LAST_BY_COLUMNS, DATA_PARALLEL, INPUT_CUT, WEIGHTS_WHOLE, LAST_WHOLE)
GATED = (
    FIRST_BY_ROWS, LAST_BY_COLUMNS, DATA_PARALLEL, INPUT_CUT, WEIGHTS_WHOLE,
    Misconception(
        "gate-cut-otherwise", "Gate and up are multiplied element by element, so a device needs the same columns of both.",
        3, when=lambda o: of.cut(o, 1, 1) != of.cut(o, 2, 1)),
    LAST_WHOLE,
)  # fmt: skip

MLP = (
    Misconception(
        "weights-gathered", "Whole weights travel here. An in_spec without `model` asks for all of a weight, so does an "
        "all-gather; leave weights where they lie.", 2, when=of.moves_weights),
    LEFT, SPREAD,
    Misconception(
        "term-returned", "Each device returns the term of its own hidden units, and nobody adds the terms up. "
        "JAX says so of out_specs=P(), as long as its check is on.", 1, local=lambda at, X, W1, W2: of.mlp(X, W1, W2)),
    Misconception(
        "adds-finished-columns", "The sum stands after W1. There each device has other columns of the hidden layer, all "
        "finished; added up, they are nothing.", 2, when=of.columns_summed),
    Misconception("relu-forgotten", "There is no relu between the two products.", 1, like=lambda X, W1, W2: X @ W1 @ W2),
    Misconception(
        "mean-instead-of-sum", "pmean divides by the number of devices; the terms of a product are added.", 1,
        when=of.averaged),
    PROMISE,
)  # fmt: skip
THREE = (
    Misconception(
        "weights-gathered", "Whole weights travel here. Leave them where they lie, and move what is computed.", 2,
        when=of.moves_weights),
    LEFT,
    Misconception(
        "relu-before-sum", "relu was applied to terms. What is negative in one term and positive in the sum is lost: add "
        "up first.", 1, when=of.relu_on_terms),
    Misconception(
        "relu-forgotten", "There is a relu after the second product too, once its terms are added up.", 1,
        like=lambda X, W1, W2, W3: of.mlp(X, W1, W2) @ W3),
    Misconception(
        "goes-on-with-terms", "The second layer's products were never added up; each device went on with columns of its "
        "own term.", 1, when=of.never_summed),
    Misconception(
        "reduces-all-columns", "An all-reduce after W2 gives every device all columns, and W3 by rows needs only its own: "
        "that is half for nothing.", 3, when=of.all_of_second),
    PROMISE,
)  # fmt: skip

TIMES = (
    Misconception(
        "one-extra-a-device", "Of the eight biases in the sum one belongs there; the others are too many.", 1, like=8),
    Misconception(
        "bias-is-a-copy", "A copy that is added on every device before a sum is added once for every device.", 1, like=0),
    Misconception("bias-once-too-often", "The sum has the bias of each of the eight devices.", 1, like=1),
)  # fmt: skip
BIASED = (
    Misconception(
        "parts-gathered", "A bias or a weight is brought together, by an in_spec without `model` or by an all-gather. Of "
        "b1 and of the weights each device needs only its own part, and b2 it has whole.", 2, when=of.moves_parameters),
    LEFT,
    Misconception(
        "divided-by-a-constant", "Each device adds an eighth of b2, on this mesh too, where they are not eight: ask "
        "mesh.shape, or jax.lax.axis_size, how many share the sum.", 1, when=of.by_a_constant),
    Misconception(
        "bias-on-every-device", "b2 is added before the sum, on every device, so it comes out n times.", 1,
        when=of.second_bias_each),
    Misconception(
        "bias-forgotten", "A bias is missing: b1 goes inside the relu, b2 to the output.", 1, when=of.bias_forgotten),
    Misconception("bias-after-relu", "b1 is added after the relu; it belongs inside.", 1, like=of.bias_after),
    Misconception("relu-forgotten", "There is no relu between the two products.", 1, like=of.straight),
    Misconception(
        "whole-bias-on-a-slice", "A bias does not fit what it is added to: b1 goes with the hidden layer's columns, cut as "
        "they are, and b2 with the output's.", 2,
        error=r"(?i)incompatible shapes for broadcasting: (shapes=\[)?\(\d+, \d+\), \((1, )?\d+,?\)"),
    PROMISE,
)  # fmt: skip

RATIO = (
    Misconception(
        "saves-communication",
        "An all-reduce is a reduce-scatter and an all-gather. Both are still here, at two places.",
        1,
        like=lambda got: isinstance(got, float | int) and got < 1,
    ),
    Misconception(
        "gather-comes-on-top", "The all-gather does not come on top: the all-reduce lost its second half.", 1, like=1.5),
)  # fmt: skip
SHARE = (
    Misconception(
        "activations-stay-whole", "Outside the two products every device now holds its own tokens only.", 1, like=1),
    Misconception("halved", "Tokens are cut over all eight devices.", 1, like=0.5),
)  # fmt: skip
BLOCK = (
    LEFT,
    Misconception(
        "bias-on-every-device", "b2 is added before the sum, on every device, so it comes out n times.", 2,
        when=of.block_bias_each),
    Misconception(
        "residual-on-every-device", "X is added before the sum, on every device: the residual comes out n times. Add your "
        "own tokens after it.", 2, when=of.residual_each),
    Misconception(
        "residual-forgotten", "The output is the MLP's alone: X is to be added to it.", 1, when=of.residual_forgotten),
    Misconception(
        "norm-forgotten", "The products take norm(X, scale), and only the residual takes X as it is.", 1,
        like=of.block_without_norm),
    Misconception(
        "bias-forgotten", "b2 is missing: add it to your own tokens, after the sum.", 1, like=of.block_without_bias),
    Misconception("residual-of-the-norm", "The residual is X itself, not norm(X, scale).", 1, like=of.block_on_norm),
    Misconception(
        "tokens-not-gathered", "Each device put its own tokens through its own hidden units only. Every token needs all "
        "hidden units: gather the tokens before the first product, and add up their terms after the second.", 2,
        local=lambda at, *blocks: of.block(*blocks), when=of.own_tokens_added),
    Misconception(
        "weights-gathered", "Whole weights travel here. Leave them where they lie, and move tokens.", 2,
        when=of.moves_weights),
    Misconception(
        "all-tokens-everywhere", "Every device ends with all tokens. The next norm needs only a device's own.", 1,
        when=lambda o: of.right_block(o) and o.placements[0].shard_shape == o.placements[0].shape),
    Misconception(
        "reduces-then-slices", "The all-reduce brings every device all tokens, and it keeps its own: one half too many.",
        2, when=lambda o: of.right_block(o) and of.reduces(o, o.inputs[0].size)),
    Misconception(
        "wrong-dimension", "Your own tokens are added to an array of another shape: to all tokens, which were not "
        "scattered, or to parts along the other dimension. Tokens are dimension 0.", 3,
        error=r"(?i)incompatible shapes for broadcasting: (shapes=\[)?\(\d+, \d+\), \((?!1,)\d+, \d+\)"),
    Misconception(
        "scatter-not-tiled", "Without tiled=True the scattered dimension must be as long as the axis has devices, and it "
        "disappears.", 3, error="must match shard count"),
)  # fmt: skip

PATTERNS = (
    Misconception(
        "devices-draw-for-themselves", "A key is a value, not a state: the same key and the same shape give the same mask "
        "on every device.", 1, like=8),
)  # fmt: skip
DROPPED = (
    Misconception(
        "copies-differ", "Devices that hold copies of one slice have dropped different elements of it: fold in only axes "
        "that cut the array.", 2, when=dropout.copies_differ),
    Misconception(
        "promise-not-proved", "out_specs promises equal copies along an axis along which the mask varies, or the block "
        "does: fold in only axes that cut the array, and name these.", 2, error="can't be statically inferred"),
    Misconception(
        "nothing-drawn", "In some slice everything is kept, or everything dropped: nothing was drawn there.", 1,
        when=dropout.undrawn),
    Misconception(
        "kept-what-was-to-drop", "About a quarter is kept. bernoulli(key, p) is true with probability p: that is what "
        "stays.", 1, when=lambda o: dropout.kept_share(o, 1 - dropout.KEEP)),
    Misconception(
        "one-mask-for-each-line", "All rows of a slice, or all its columns, drop the same places: the mask has one row or "
        "one column, and broadcasting repeats it. Draw as many numbers as the block has elements.", 1,
        when=dropout.lines_alike),
    Misconception(
        "mask-is-a-pattern", "Moved on by some rows and columns, the mask of some slice agrees with itself, or with another "
        "slice's or seed's, more often than drawn numbers do: it is counted out, shifted or repeated, and not drawn for "
        "each element.", 2, when=dropout.counted),
    Misconception(
        "same-mask-everywhere", "Several slices have one and the same mask: their devices use the same key, or "
        "the same part of a mask.", 1,
        when=dropout.repeats),
    Misconception(
        "seed-not-used", "Another seed gives the same mask, so every training step would drop the same elements.", 2,
        when=dropout.same_for_another_seed),
    Misconception(
        "not-scaled", "What stays must be divided by KEEP, the share that stays: then its mean does not change.", 1,
        when=dropout.scaled_otherwise),
)  # fmt: skip

HEADS = (
    Misconception(
        "heads-in-turn", "A group is a run of neighbouring query heads: with 8 and 2, heads 0 to 3 read kv head 0.", 1,
        like=layers.heads_with(reads="turn")),
    Misconception(
        "all-heads-everywhere", "A device needs only the kv heads that its own query heads read.", 1,
        like=layers.heads_with(keys="all")),
    Misconception(
        "kv-heads-dealt-out", "With fewer kv heads than devices some devices get none; but their query heads read one: it "
        "is held more than once.", 2, like=layers.heads_with(keys="even")),
    Misconception(
        "one-head-each", "With fewer devices than kv heads a device has several groups of query heads, and reads a kv head "
        "for each.", 2, like=layers.heads_with(keys="first")),
    Misconception(
        "listed-more-than-once", "A device holds a kv head once, however many of its query heads read it.", 1,
        like=layers.heads_with(keys="each")),
)  # fmt: skip
LAYOUT = (
    Misconception(
        "kv-whole", "Every device holds all kv heads. It needs one.", 1,
        when=lambda o: not any(of.cut(o, i, d) for i in (2, 3) for d in (0, 1, 2))),
    Misconception(
        "axes-in-wrong-order", "`rep` comes first, so neighbouring query heads lie on different kv heads, and what some of "
        "them read is elsewhere.", 3, when=of.swapped),
    Misconception(
        "heads-cut-inside", "A head's vector is cut: scores are then terms of a sum, and the softmax waits for it.", 2,
        when=lambda o: of.cut(o, 1, 2)),
    Misconception(
        "keys-cut-too-finely", "Wk and Wv are cut inside a head or along D: then they, or the keys and values of every "
        "token, have to be sent.", 2, when=lambda o: any(of.cut(o, i, d) for i in (2, 3) for d in (0, 2))),
    Misconception(
        "queries-over-kv-only", "Wq is cut over `kv` alone: the devices along `rep` hold the same query heads.", 2,
        when=lambda o: o.case.inputs[1].spec[1:2] == ("kv",)),
    INPUT_CUT,
    Misconception(
        "output-weight-not-by-heads", "Wo is not cut over its heads as Wq is: a device needs the rows of its own query "
        "heads, and no others.", 3, when=lambda o: not of.cut(o, 4, 0)),
)  # fmt: skip

STEP = (
    Misconception(
        "all-tokens-reduced", "A device reduces its own tokens: T is divided by the devices along `data`.", 2,
        like=budget.step_with(tokens=False)),
    Misconception(
        "whole-gradients-reduced", "A device has gradients for its own part of the weights: divide by the devices along "
        "`model`.", 2, like=budget.step_with(weights=False)),
    Misconception(
        "all-reduce-counted-once", "This is half of it. An all-reduce is a reduce-scatter and an all-gather: it counts "
        "twice. (Or two bytes were counted for a number, and float32 has four.)", 1,
        like=budget.step_with(reductions=1)),
    Misconception(
        "forward-only", "X's gradient is a sum over `model` too: there is an all-reduce on the way back.", 1,
        like=budget.step_with(passes=1)),
    Misconception(
        "one-device-is-not-free", "With one device along an axis there is nobody to add up with: that costs nothing.", 3,
        like=budget.step_with(free=False)),
    Misconception(
        "axes-swapped", "Hidden units lie along `model`: outputs are added up over it. Tokens lie along `data`: gradients "
        "of weights are added up over that.", 2, like=budget.step_swapped),
)  # fmt: skip
BEST = (
    Misconception(
        "always-data",
        "Not always: where weights are large and tokens few, cutting the weights saves more.",
        1,
        like=lambda t, d, f, n: [n, 1],
    ),
    Misconception(
        "always-model", "Not always: where tokens are many, cutting them saves more.", 1, like=lambda t, d, f, n: [1, n]),
    Misconception(
        "larger-of-equal-ones", "Of two meshes that cost the same take the one with the smaller `model`.", 1,
        like=partial(budget.best_mesh, larger=True)),
    Misconception(
        "powers-of-two-only", "Not every size is a power of two: 6 devices may be 2 by 3.", 1,
        like=partial(budget.best_mesh, powers=True)),
)  # fmt: skip

GUARD = (
    lets_through("values-alone", "It looks at values, and gathered weights have the same values for many times the bytes.",
                 "weights-gathered", "last-unsummed", hint=1),
    lets_through("bytes-alone", "It looks at what is sent, and a layer that adds nothing up sends nothing: see `error`.",
                 "last-unsummed", "weights-gathered", hint=1),
    lets_through("place-forgotten", "It lets a program through whose output is left in pieces: `shard` is not `shape`.",
                 "left-cut", "weights-gathered", "last-unsummed"),
    one_size("unrolled"),
    counts("unrolled", "rows-apart", "scanned"),
    lets_through("dtype-forgotten", "It lets twice the bytes of one all-reduce a layer pass: `price` has no limit, the "
                 "factor is too large, or it takes four bytes for each number where the activations have two (read "
                 "`dtype`).",
                 "doubled", "weights-gathered", "last-unsummed"),
)  # fmt: skip

MECHANISM = why(
    "Where do the numbers come from?",
    a=Believed(
        "From a state that each device has for itself, and that the key starts.",
        "own-state",
        "Then masks would differ, and one was found on all devices: a key has no state.",
    ),
    b=Believed(
        "From a part of the key: `shard_map` cuts it, as it cuts the rest.",
        "key-is-cut",
        "The key is made inside of the body, where nothing is cut any more, and one mask was found on all devices.",
    ),
    c="From what the call is given, the key, the shape and the probability: nothing of the device is in it.",
)
