"""Chapter 9's questions: the tensor-parallel MLP and attention."""

from __future__ import annotations

import pathlib

from shardlab_course.ch09 import budget, dropout, layers
from shardlab_course.ch09 import misconceptions as wrong
from shardlab_course.ch09 import oracles as of
from shardlab_course.ch09.oracles import COLUMNS, FOUR, LINE, MESHES, TALL, TOKENS, WIDE
from shardlab_course.shared.kinds import OR_NONE
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question

HERE = pathlib.Path(of.__file__).parent

ROUNDING = "float32 sums of up to 256 terms in another order"
ALL = {"S": 0.5, "H": 0.5, "M": 0.5, "F": 0.5}
FREE = {"V": 1, "S": 0.5, "H": 0.5}
GRIDS = (WIDE, TALL)

CUTS = Question(
    "9.1", "Choose the cuts", difficulty=2, minutes=25,
    items=(
        ValueItem("collective", {"P": 0.25}, predicted=True, key="all-gather", words=OR_NONE,
                  misconceptions=wrong.COLLECTIVE),
        ValueItem("factor", {"P": 0.25}, predicted=True, key=4, misconceptions=wrong.FACTOR),
        LayoutItem("plain", ALL, function=layers.plain_mlp, misconceptions=wrong.PLAIN, draw=layers.draw_plain,
                   reference={"X": [], "W1": [None, "model"], "W2": ["model", None]},
                   cases=(layers.plain_sizes(LINE, 16, 32, 128), layers.plain_sizes(FOUR, 8, 32, 160))),
        LayoutItem("gated", ALL, function=layers.gated_mlp, misconceptions=wrong.GATED, draw=layers.draw_gated,
                   reference={"X": [], "Wg": [None, "model"], "Wu": [None, "model"], "Wd": ["model", None]},
                   cases=(layers.gated_sizes(LINE, 16, 32, 128), layers.gated_sizes(FOUR, 8, 32, 160))),
    ),
    hints=(
        "After the first weight each device should have finished numbers, or relu cannot be applied. Which cut of W1 gives "
        "finished numbers, and of which hidden units?",
        "A hidden unit is a column of W1 and a row of W2. Deal hidden units out to devices; each takes both.",
        "W1 by columns, W2 by rows, X whole. In the gated block a hidden unit is a column of Wg, the same column of Wu, and "
        "a row of Wd.",
    ),
    explanation="Hidden units do not know of one another: each reads all of X through its column of W1, and writes to "
                "all of Y through its row of W2. So they can be dealt out like cards, and up to the last product nothing"
                " has to move, in a gated block neither. What is left is one sum of outputs, an all-reduce of T·D "
                "numbers.\n\nWith both weights by columns the hidden layer must be gathered, and it is F / D times as wide:"
                " 4 times the payload on CPU. XLA for TPU rounds it to bfloat16 before it is sent, as its products do by"
                " default, and gathers half of that. Leaving W2 whole is the same program on one axis, because a device "
                "may take its rows from a copy; it takes more memory.",
)  # fmt: skip

BY_HAND = Question(
    "9.2", "The block by hand", difficulty=3, minutes=45,
    items=(
        ProgramItem("mlp_by_hand", {"V": 0.5, "S": 0.5, "H": 0.5}, oracle=of.mlp, manual=True, misconceptions=wrong.MLP,
                    rtol=1e-4, atol=1e-4, tolerance=ROUNDING, draw=of.drawing(of.mlp_case, MESHES, 3),
                    cases=(of.mlp_case(LINE, 16, 24, 96), of.mlp_case(TALL, 8, 24, 80))),
        ProgramItem("three_layers", {"V": 1, "S": 0.5, "H": 1}, oracle=of.three_layers, manual=True,
                    misconceptions=wrong.THREE,
                    rtol=2e-4, atol=2e-4, tolerance=ROUNDING + ", twice", draw=of.drawing(of.three_case, MESHES, 4),
                    cases=(of.three_case(LINE, 16, 24, 96, 64), of.three_case(TALL, 8, 16, 80, 48))),
    ),
    hints=(
        "Say after each product: are these numbers finished, or terms? relu takes finished numbers only.",
        "mlp_by_hand: one psum over 'model', after the second product. three_layers: a sum after the second product, and "
        "one after the third. Which columns does a device need after the second?",
        "For three_layers: jax.lax.psum_scatter over 'model' with scatter_dimension=1 and tiled=True adds up and leaves "
        "each device its own columns, ready for its rows of W3.",
    ),
    explanation="In mlp_by_hand the hidden layer is cut by columns, so relu is local, and the one psum comes last. In "
                "three_layers the second product gives terms, and relu must wait: relu(a) + relu(b) is relu(a + b) only "
                "where a and b do not have opposite signs. But nobody needs all columns of the sum: W3 by rows wants each "
                "device's own.\n\nSo a reduce-scatter along the columns is enough: with E columns in the second layer T·E·4 "
                "bytes of price instead of twice as much, as XLA for CPU compiles it. Its output lies exactly as the first "
                "layer's did. Layers alternate: by columns, by rows, and after a scatter by rows again. A test with "
                "positive numbers cannot see a relu in the wrong place, because there it does nothing.",
)  # fmt: skip

BIAS = Question(
    "9.3", "A bias is added once", difficulty=2, minutes=20,
    items=(
        ValueItem("times", {"P": 0.5}, predicted=True, key=7, misconceptions=wrong.TIMES),
        ProgramItem("mlp_bias", {"V": 1, "S": 0.5, "H": 0.5}, oracle=of.biased, manual=True, misconceptions=wrong.BIASED,
                    rtol=1e-4, atol=1e-4, tolerance=ROUNDING, draw=of.drawing(of.bias_case, MESHES, 3),
                    cases=(of.bias_case(LINE, 16, 24, 96), of.bias_case(WIDE, 8, 24, 80))),
    ),
    hints=(
        "Ask of each bias: is it added to finished numbers or to terms?",
        "b1 belongs to hidden units, so it is cut with them. b2 belongs to the finished output.",
        "relu(x @ w1 + b1) with b1 as P('model'), then psum of the product with w2, then + b2, which every device has "
        "whole.",
    ),
    explanation="b1 is added to finished columns of the hidden layer: each device adds the part that goes with its "
                "columns. b2 is added to the output. Added to the terms, it is in every term, so n times in the sum: too "
                "large by n − 1 of it. Right are: after the sum on every device; on one device only, before it; or an "
                "n-th part on each, before it. The first is the simplest, and it is what the types ask for: b2 does not "
                "vary along `model`, and after the psum neither does the output. Biases often start as zeros, so a check "
                "right after initialization would pass with the mistake.",
)  # fmt: skip

SEQUENCE = Question(
    "9.4", "Sequence parallelism", difficulty=4, minutes=50,
    items=(
        ValueItem("price", {"P": 0.25}, predicted=True, key=1, misconceptions=wrong.RATIO),
        ValueItem("activations", {"P": 0.25}, predicted=True, key=0.125, rtol=1e-6, misconceptions=wrong.SHARE),
        ProgramItem("block", {"V": 1, "S": 0.5, "H": 1, "M": 0.5}, oracle=of.block, manual=True, misconceptions=wrong.BLOCK,
                    rtol=2e-4, atol=2e-4, tolerance=ROUNDING + ", after a norm",
                    draw=of.drawing(of.block_case, MESHES, 3),
                    cases=(of.block_case(LINE, 16, 24, 96), of.block_case(TALL, 24, 16, 80))),
    ),
    hints=(
        "Norm, bias and residual take one token at a time. Which tokens does a device hold before the first product, and "
        "which should it hold after the second?",
        "Gather tokens right before the first product, and add up and scatter tokens right after the second. Everything "
        "else happens on a device's own tokens.",
        "all_gather(..., axis=0, tiled=True), two products, psum_scatter(..., scatter_dimension=0, tiled=True), then + b2 "
        "and + x, both on your own tokens.",
    ),
    explanation="The all-reduce of the plain block is a reduce-scatter and an all-gather that stand side by side. Here "
                "they are moved apart: between the scatter of one block and the gather of the next lie the norm, the "
                "bias, the residual and the dropout, which work token by token. The price, as XLA for CPU compiles it, is "
                "the same, an array of T·D numbers twice a block. What shrinks is everything in between: a device holds, "
                "and computes, T / n tokens instead of T. An all-reduce and a slice give the same values for one and a half "
                "times the price. Gathering before the norm costs no more bytes there, but every device then norms every "
                "token.",
)  # fmt: skip

DROPOUT = Question(
    "9.5", "One key, many masks", difficulty=3, minutes=30,
    items=(
        ValueItem("patterns", {"P": 0.25}, predicted=True, key=1, misconceptions=wrong.PATTERNS),
        wrong.MECHANISM,
        ProgramItem("drop_hidden", FREE, checks=(Check("V", dropout.not_dropped),), misconceptions=wrong.DROPPED,
                    cases=(dropout.dropout_case(LINE, COLUMNS), dropout.dropout_case(TALL, COLUMNS)),
                    draw=lambda rng: dropout.dropout_case(rng.choice(MESHES), COLUMNS)),
        ProgramItem("drop_output", FREE, checks=(Check("V", dropout.not_dropped),), misconceptions=wrong.DROPPED,
                    cases=(dropout.dropout_case(WIDE, TOKENS), dropout.dropout_case(TALL, TOKENS)),
                    draw=lambda rng: dropout.dropout_case(rng.choice(GRIDS), TOKENS)),
    ),
    hints=(
        "Which devices hold different slices of the array, and which hold copies of one slice?",
        "Slices need different keys, copies need the same. jax.random.fold_in(key, number) makes a key of its own for each "
        "number.",
        "Inside shard_map, fold in jax.lax.axis_index of the axis that cuts the array: 'model' for the hidden layer, 'data' "
        "for the output. No other axis.",
    ),
    explanation="A JAX key is a value. The same key with the same block shape gives the same mask on every device, so the"
                " masks of different hidden units would not be independent: each device drops the same places of its "
                "slice. Fold in the index along the axis that cuts.\n\nThe opposite mistake is worse: where an array is "
                "copied along an axis, different masks make the copies differ, and from then on the devices no longer "
                "compute the same thing. JAX's types see that: a mask from axis_index('model') varies over `model`, and "
                "out_specs without `model` is refused. Another right answer draws one mask for the whole array outside of "
                "shard_map, under jit; XLA, for CPU and for TPU, then lets each device make its own part of it.",
)  # fmt: skip

GROUPED = Question(
    "9.6", "More devices than key heads", difficulty=4, minutes=50,
    items=(
        CallsItem("heads", {"V": 1.5}, oracle=layers.heads, draw=layers.draw_heads_call, drawn=20,
                  misconceptions=wrong.HEADS,
                  calls=((8, 8, 8), (8, 2, 8), (8, 2, 2), (12, 4, 2), (16, 4, 8), (6, 1, 3))),
        LayoutItem("layout", {"S": 0.5, "H": 1, "M": 1, "F": 0.5}, function=layers.attention, misconceptions=wrong.LAYOUT,
                   draw=layers.draw_heads,
                   reference={"X": [], "Wq": [None, ["kv", "rep"]], "Wk": [None, "kv"], "Wv": [None, "kv"],
                              "Wo": [["kv", "rep"]]},
                   cases=(layers.head_sizes(axes(kv=2, rep=4), 16, 32, 8, 4),
                          layers.head_sizes(axes(kv=4, rep=2), 8, 32, 16, 4))),
    ),
    hints=(
        "Deal out the query heads first, in order. Then write beside each device the kv heads that they read.",
        "With fewer kv heads than devices, several devices hold the same kv head: one axis of the mesh tells kv heads "
        "apart, the other makes copies.",
        "Query heads over ('kv', 'rep'), slowest first, in Wq and in Wo; kv heads over 'kv' alone in Wk and Wv. X stays "
        "whole.",
    ),
    explanation="Query head h reads kv head h·kv // q. Dealt out in order, the query heads of neighbouring devices read "
                "the same kv head, so those devices hold copies of it: n / kv of them. A mesh says this with two axes in"
                " the place of one: `kv` tells the kv heads apart, `rep` makes copies. The query heads are cut over "
                "both, with `kv` first, since the heads of one group are neighbours.\n\nWith `rep` first, of 8 devices and "
                "2 key heads only 4 get query heads of the group whose key head they hold, and keys have to travel. "
                "Cutting inside a head holds less, and moves keys and values, or scores, for every token. Past kv devices a "
                "finer cut by whole heads saves nothing of the keys and values, nor of their cache.",
)  # fmt: skip

BOTH = Question(
    "9.7", "Two axes, two costs", difficulty=4, minutes=35, optional=True,
    items=(
        CallsItem("step_bytes", {"C": 1.5}, oracle=budget.step_bytes, draw=budget.draw_step, drawn=20, rtol=1e-9,
                  misconceptions=wrong.STEP,
                  calls=((64, 32, 128, 8, 1), (64, 32, 128, 4, 2), (64, 32, 128, 2, 4), (64, 32, 128, 1, 8),
                         (16, 48, 96, 2, 3))),
        CallsItem("best_mesh", {"C": 1}, oracle=budget.best_mesh, draw=budget.draw_sizes, drawn=20,
                  misconceptions=wrong.BEST,
                  calls=((64, 32, 128, 8), (65536, 1024, 4096, 8), (64, 8192, 32768, 8), (4096, 1024, 4096, 16),
                         (192, 96, 240, 6), (96, 32, 264, 12))),
    ),
    hints=(
        "For each sum ask: what differs between the devices that take part? Hidden units lie along one axis, tokens along "
        "the other.",
        "Along `model` activations are added up: T / data tokens of D numbers, forward and backward. Along `data` "
        "gradients: each device's share of W1 and of W2.",
        "model: 2 passes, 2 for an all-reduce, 4 bytes, T / data · D. data: 2 for an all-reduce, 4 bytes, 2 · D · F / "
        "model. An axis of size 1 costs nothing.",
    ),
    explanation="Forward, only `model` has to talk, and only about the tokens of one row of the mesh. Backward, the "
                "gradient of X is a sum over hidden units, so over `model`, as large as Y; the gradients of the weights "
                "are sums over tokens, so over `data`, as large as a device's share of the weights. So each axis makes "
                "the other cheaper: more rows of the mesh, fewer tokens in each; more columns, smaller gradients.\n\n"
                "The product of the two costs is the same for all meshes with both axes, so among these their sum is least "
                "where they are nearest to equal; a mesh with one axis may still be cheaper, as an axis of one device costs "
                "nothing. Real machines differ in one more thing: the wires of one axis may be faster. And what goes over "
                "`model` has to arrive before the next layer can start, while gradients may travel when they are ready.",
)  # fmt: skip

GUARD = Question(
    "9.8", "A guard for a stack of layers", difficulty=3, minutes=25, optional=True,
    items=(GuardItem("stack_holds", {"G": 2}, kept=HERE / "guarded.json", misconceptions=wrong.GUARD),),
    hints=(
        "For each layer one sum of the activations is due. How many bytes has it, and where do you read the number of "
        "layers and the dtype?",
        "The weights have the layers as their first dimension. A sum is an all-reduce of the activations' shape, in their "
        "dtype: twice its bytes.",
        "x, first, _ = facts['inputs']; allowed = 2 * first['shape'][0] * math.prod(x['shape']) * size, with size 2 for "
        "bfloat16 and 4 for float32. Then values, and an output that is whole.",
    ),
    explanation="The promise of tensor parallelism is one all-reduce of the activations a layer, and weights that stay "
                "where they are. In bytes it is twice the layers times T D times the size of a number, which catches "
                "weights that are gathered (while there are fewer tokens than hidden units), gathered hidden activations, "
                "and a second average that changes no value.\n\nThe dtype belongs to it: who allows four bytes where the "
                "activations have two lets every sum be sent twice. XLA for CPU widens bfloat16 sums to float32 by itself, "
                "XLA for v5e does not, so a guard for chips is asked about what was compiled for them. A scan is one "
                "collective in the text and as many in the run as there are layers; `price` counts rounds, and so must you.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (CUTS, BY_HAND, BIAS, SEQUENCE, DROPOUT, GROUPED, BOTH, GUARD)
