"""Chapter 11's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from shardlab_course.ch11 import oracles as of
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.products import slice_met
from shardlab_judge.cases import Observed
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

LEDGER = (
    Misconception(
        "stages-are-not-cumulative",
        "Each stage cuts what the one before it cut, and one thing more; here stage 3 cuts the weights alone.",
        2, like=of.ledger_of_one),
    Misconception(
        "gradients-cut-in-stage-1", "ZeRO-1 cuts the optimizer's state only: the gradients are cut from stage 2 on.",
        2, like=of.ledger_by((3, 1, 1))),
    Misconception("weights-cut-in-stage-2", "Weights are cut in stage 3 only.", 2, like=of.ledger_by((2, 2, 1))),
    Misconception(
        "wrong-order", "The stages cut the largest part first: optimizer, then gradients, then weights.",
        2, like=of.ledger_by((1, 2, 3))),
    Misconception(
        "cut-in-every-stage", "That divides everything by the number of devices; stage 0 cuts nothing.",
        1, like=of.ledger_by((0, 0, 0))),
    Misconception(
        "never-cut", "These are the bytes of a device that holds everything, whatever the stage.",
        1, like=of.ledger_by((4, 4, 4))),
    Misconception(
        "float32-copy-forgotten",
        "In mixed precision the optimizer also keeps a float32 copy of the weights: 12 bytes a parameter, not 8.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 2, 8) if mixed else None)),
    Misconception(
        "gradients-in-float32", "In mixed precision gradients are kept in 16 bits, as the weights are.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 4, 12) if mixed else None)),
    Misconception(
        "another-books-ledger",
        "That is the Scaling Book's ledger, without gradients and without a precise copy; this one counts both.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 0, 8) if mixed else None)),
    Misconception(
        "precisions-swapped", "The ledger of mixed precision is where everything is float32, and the other way round.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, not mixed)),
    Misconception(
        "of-all-devices", "These are the bytes on all devices together; one device's are asked for.", 2,
        like=lambda p, n, stage, mixed: {k: n * v for k, v in of.ledger(p, n, stage, mixed).items()}),
)  # fmt: skip

LARGEST = (
    Misconception(
        "memory-is-shared",
        "That treats all memories as one: only what is cut is divided, and the rest lies on every device.",
        3, like=lambda memory, n, stage, mixed: memory * n // 16),
    Misconception(
        "stage-ignored", "That is the largest model of stage 0.", 1, like=lambda memory, n, stage, mixed: memory // 16),
    Misconception(
        "rounded-too-early",
        "A device's share of one parameter is not a whole number of bytes, and rounded down it looks smaller than it is.",
        3, like=of.largest_rounded),
)  # fmt: skip

TRAIN = (
    Misconception(
        "promise-not-proved",
        "Something that out_specs=P() promises whole still varies over data, a weight, say: its rows were not brought "
        "together, or all_gather lacks to='invarying'.",
        3, error="can't be statically inferred|Unsupported pcast from=varying"),
    Misconception(
        "first-use-only", "E is used twice, and its gradient is the sum of both uses; this is the first use's alone.",
        1, like=of.trained(uses=(1, 0))),
    Misconception(
        "second-use-only", "E is used twice, and its gradient is the sum of both uses; this is the second use's alone.",
        1, like=of.trained(uses=(0, 1))),
    Misconception(
        "without-correction",
        "The state begins at zero, so early averages are too small; Adam divides by 1 - beta**t to correct that.",
        1, like=of.trained(corrected=False)),
    Misconception(
        "step-zero", "The outputs hold NaN, as when steps are counted from 0: then the correction divides by zero.",
        1, when=lambda o: any((block != block).any() for shards in o.shards for _, _, block in shards)),
    Misconception(
        "state-forgotten", "The state begins anew in every step; carry it along.",
        2, when=lambda o: of.agrees(o, of.trained(memory=False)(*of.wide(o)), 1e-3)),
    Misconception("one-step", "This is one step of five.", 1, like=of.trained(steps=1)),
    Misconception(
        "gradients-summed",
        "The gradients are sums over devices of means over their samples, n times the mean's. Adam hides nearly "
        "all of it from the weights; m and v show it.",
        3, when=lambda o: _scaled(o, dict(o.case.axes)["data"])),
    Misconception(
        "weights-cut",
        "The weights end in slices: after the update nothing brings their rows together, and in ZeRO-1 they are whole.",
        3, when=of.weights_cut),
    Misconception(
        "state-by-columns", "The state is cut by columns; P('data', None) cuts rows.", 1, when=of.state_by_columns),
    Misconception(
        "state-moved",
        "An all-to-all brings rows where columns lay, or the other way round: let the state, and what is computed for it, "
        "lie as P('data', None) from the first step on.",
        2, when=lambda o: "all-to-all" in o.kinds),
    Misconception(
        "state-on-every-device",
        "Each device holds all of the optimizer's state; ZeRO-1 gives it the rows that it updates, an n-th.",
        1, when=of.state_whole),
    Misconception(
        "cut-at-the-end",
        "The state is cut only when training is over: no step moves more than gradients, so every device updated all of "
        "every weight.",
        2, when=of.only_gradients_moved, barred=True),
)  # fmt: skip


def _scaled(o: Observed, factor: float) -> bool:
    return of.agrees(o, of.trained(factor=factor)(*of.wide(o)), 1e-3)


GRADIENTS = (
    LEFT,
    Misconception(
        "not-gathered",
        "Two factors do not fit. A device has some rows of each weight, and a product needs all of them: all_gather first, "
        "along axis 0 and with tiled=True. If you did, look at the order of the factors.",
        1, error=slice_met),
    Misconception(
        "sum-of-means",
        "The gradients are n times too large: the backward pass adds up what n devices contribute, and each may count an "
        "n-th of its own samples' mean only.",
        3, when=lambda o: of.times(o, lambda n: n)),
    Misconception(
        "slices-averaged",
        "The reduce-scatter left each device with other rows; pmean or psum then mixed rows that have nothing to do with "
        "one another.",
        2, when=lambda o: of.own_parts(o, average=True)),
    Misconception(
        "never-reduced",
        "Each device kept its rows of its own samples' gradient: differentiate through the all_gather, or scatter the "
        "sum yourself.",
        2, when=of.own_parts),
    Misconception(
        "eight-devices", "That divides by 8 on every mesh; the number of devices is axis_size('data').",
        2, when=lambda o: not of.right(o) and of.times(o, lambda n: n / 8)),
    Misconception(
        "whole-for-slices",
        "Each device returns a whole gradient, and out_specs puts them all below one another: each is to return its own "
        "rows of their sum.",
        2, when=of.stacked),
    Misconception(
        "averaged-twice", "The mean over devices was taken twice.", 2, when=lambda o: of.times(o, lambda n: 1 / n)),
    Misconception(
        "gradients-whole", "Every device ends with whole gradients, n times the memory of what it needs for its own rows.",
        1, when=lambda o: any(b.shape == w.shape for s, w in zip(o.shards, o.placements) for _, _, b in s)),
    Misconception(
        "all-reduce-and-slice",
        "The gradients are summed for everybody and then cut: that is an all-gather too many, of what is thrown away.",
        2, when=lambda o: of.large_all_reduce(o) and "reduce-scatter" not in o.kinds and of.right(o)),
    Misconception(
        "batch-gathered", "The batch is gathered too; only the weights have to come together.", 1, when=of.batch_gathered),
    Misconception(
        "gathered-twice", "Weights are gathered more than once; here each may be kept for the backward pass.",
        1, when=lambda o: of.gathered(o) > 1.5 * sum(a.nbytes for a in o.inputs[2:])),
)  # fmt: skip

GATHERS = (
    Misconception(
        "nothing-written-twice", "The exported program is what JAX wrote, and it gathers again where it recomputes.",
        1, like=4),
    Misconception(
        "first-layer-spared",
        "Nothing needs the first weight backwards, but this checkpoint recomputes the layer's product and tanh, and "
        "these need it.",
        2, like=7),
)  # fmt: skip

_ELSEWHERE = ("all-reduce-and-slice", "batch-gathered", "gathered-twice", "gradients-whole", "whole-for-slices")

LEAN = (
    *(miss for miss in GRADIENTS if miss.id not in _ELSEWHERE),
    Misconception(
        "no-checkpoint",
        "Nothing is computed again, so every gathered weight that the backward pass uses is kept for it. The compiled "
        "program for CPU need not have told you.",
        1, when=lambda o: of.right(o) and _barriers(o) == 0 and _gathers(o) <= _depth(o)),
    Misconception(
        "checkpoint-without-effect",
        "There is a barrier, and yet no weight is gathered again: what all_gather returned is kept. Either the policy "
        "keeps it, named or before it gets a name, or the gather, or the product that needs it, stands outside of the "
        "checkpoint.",
        3, when=lambda o: of.right(o) and _barriers(o) > 0 and _gathers(o) <= _depth(o)),
    Misconception(
        "some-gathered-again", "Some weights are gathered again, and others are kept: every layer is to give its own up.",
        1, when=lambda o: of.right(o) and _gathers(o) < 2 * _depth(o) - 1),
    Misconception(
        "whole-loss",
        "One checkpoint is around all layers, so the backward pass begins with a whole forward pass, and that keeps every "
        "gathered weight, as without a checkpoint: put it around one layer.",
        1, when=lambda o: of.right(o) and _barriers(o) == 1 and _products_again(o)),
    Misconception(
        "products-made-again",
        "The weights are gathered again, and products are computed again, too: a policy says what may be kept.",
        2, when=lambda o: of.right(o) and _products_again(o)),
    Misconception(
        "merged-again",
        "There are gathers enough to bring each weight but the first twice, and no barrier in between. XLA merges equal "
        "ones, for CPU and for TPU, and keeps the first. jax.checkpoint sets barriers by itself, unless prevent_cse=False "
        "forbids it; by hand it is jax.lax.optimization_barrier.",
        3, when=lambda o: of.right(o) and _barriers(o) == 0),
)  # fmt: skip


def _depth(o: Observed) -> int:
    return len(o.inputs) - 2


def _barriers(o: Observed) -> int:
    return of.count(o, "optimization_barrier")


def _gathers(o: Observed) -> int:
    return of.count(o, "all_gather")


def _products_again(o: Observed) -> bool:
    return of.count(o, "dot_general") > 3 * _depth(o) - 1


RATIO = (
    Misconception(
        "FSDP-3x",
        "That counts the all-reduce of data parallelism once; it is a reduce-scatter and an all-gather, twice the bytes.",
        1, like=lambda got: float(got) == 3),
    Misconception(
        "as-much", "That is FSDP with its gathered weights kept: to give them up, each is gathered a second time.",
        1, like=lambda got: float(got) == 1),
    Misconception(
        "scatter-as-all-reduce",
        "Two gathers and an all-reduce would be twice as much; but a gradient has to reach only the device that keeps it.",
        1, like=lambda got: float(got) == 2),
    Misconception(
        "other-way-round", "That is data parallelism's traffic as a part of FSDP's; the question is the other way round.",
        1, like=lambda got: abs(float(got) - 2 / 3) < 0.01),
)  # fmt: skip

TRAFFIC = (
    Misconception(
        "all-reduce-counted-once",
        "An all-reduce is a reduce-scatter and an all-gather: two passes around the ring. So FSDP is half as much again, "
        "not three times as much.",
        1, like=of.cheap_all_reduce),
    Misconception(
        "to-itself", "On a ring of n a device sends n - 1 of the n parts: the factor is (n - 1) / n.",
        1, like=of.without_ring),
    Misconception(
        "everything-each-microbatch",
        "Whoever holds whole gradients adds them up and communicates once; whole weights need no gather for each "
        "microbatch.",
        2, like=of.every_microbatch),
    Misconception(
        "zero-1-three-times",
        "In ZeRO-1 a sum is needed only where it is used: a reduce-scatter, and then one all-gather of weights.",
        1, like=of.traffic_with("zero-1", lambda k: 3)),
    Misconception(
        "weights-each-microbatch", "ZeRO-2 keeps whole weights, so they are gathered once a step, after they have changed.",
        2, like=of.traffic_with("zero-2", lambda k: 2 * k)),
    Misconception(
        "kept-over-microbatches",
        "In the plan with weights kept nothing stays from one microbatch to the next: each gathers once.",
        2, like=of.traffic_with("fsdp, weights kept", lambda k: 1 + k)),
    Misconception(
        "microbatches-ignored", "What is not kept between microbatches is sent in each of them.",
        2, like=of.microbatches_ignored),
    Misconception("of-all-devices", "That is what all devices send together.", 1, like=of.of_all_devices),
    Misconception(
        "two-of-three-passes", "Where gathered weights are given up a microbatch has three passes: a gather for forward, "
        "another for backward, and the scatter of the gradients. That counts two.",
        3, like=of.kept_always),
)  # fmt: skip

DONATION = (
    Misconception(
        "one-step-behind", "`steps` steps are done, so this is the next one: both corrections take steps + 1.", 1,
        like=of.adam_otherwise(behind=1)),
    Misconception(
        "one-step-ahead", "`steps` counts the steps that are done, and this is one more: both take steps + 1.", 1,
        like=of.adam_otherwise(behind=-1)),
    Misconception(
        "means-not-corrected", "m and v begin as zeros, so their first values are too small: divide them by 1 - 0.9**t and "
        "1 - 0.999**t.", 1, like=of.adam_otherwise(behind=-10**6)),
    Misconception(
        "small-number-forgotten", "Where gradients are small the number added to the root, 1e-4, decides how far a weight "
        "moves.", 1, like=of.adam_otherwise(tiny=0.0)),
    Misconception(
        "mesh-not-static", "jax.jit takes the mesh for an array: it is the argument number 0, and static.",
        2, error="(Mesh.*not a valid JAX type|type.*Mesh)"),
    Misconception(
        "shifted-by-one",
        "m, v and the gradient are given away, and the weights are not. Positions count the mesh where it is an argument "
        "of the function that is jitted, and not where partial or a closure has it.",
        2, when=lambda o: o.donated == frozenset({1, 2, 3})),
    Misconception(
        "gradient-donated",
        "The gradient, or the count, is given away. An output as large may take its place, as nobody looks at its meaning; "
        "but the caller has no successor of it.",
        3, when=lambda o: bool(o.donated - {0, 1, 2})),
    Misconception(
        "nothing-donated",
        "Old and new weights and state lie side by side: the outermost function does not say that the old ones are not "
        "needed any more.",
        1, when=lambda o: not o.donated),
    Misconception(
        "state-not-donated", "The weights are given away; m and v are replaced as well, and twice as large together.",
        1, when=lambda o: o.donated == frozenset({0})),
    Misconception(
        "weights-not-donated", "m and v are given away, and the old weights stay beside the new ones.",
        1, when=lambda o: o.donated == frozenset({1, 2})),
    Misconception(
        "not-all-donated", "The weights, m and v are all replaced, and not all of the three are given away.",
        1, when=lambda o: o.donated < frozenset({0, 1, 2})),
)  # fmt: skip

MECHANISM = why(
    "What becomes of the gathered weights?",
    a="They are not kept: backward, each layer is computed again from its input and its slice of the weight.",
    b=Believed(
        "They are kept: `jax.checkpoint` gives up activations, and weights are none.",
        "weights-are-kept",
        "The exported program gathers more often with `jax.checkpoint` than without: whatever is computed "
        "inside of it is given up.",
    ),
    c=Believed(
        "They are not kept, and gathered again where the backward pass needs them, and only there.",
        "only-what-is-needed",
        "Backward nobody needs the first weight, and yet every weight is gathered twice in the exported "
        "program: all of a layer is computed again.",
    ),
)
