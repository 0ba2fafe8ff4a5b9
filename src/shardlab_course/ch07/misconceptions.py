"""Chapter 7's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

import functools

import numpy as np

from shardlab_course.ch07 import oracles as of
from shardlab_course.ch07 import recognised as by
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

PROMISE = Misconception(
    "promise-not-proved",
    "out_specs promises equal copies over an axis over which the output's type still varies: sum over it, gather "
    "with to='invarying', or name the axis.", 2, error="can't be statically inferred")  # fmt: skip
GATHERS = Misconception(
    "gathers-everything", "Whole blocks are brought together; a few numbers from each device would do.", 2,
    when=lambda o: by.gathers(o, whole=True))  # fmt: skip
PARTS = Misconception(
    "results-gathered",
    "What every device has found is sent to all of them, n numbers where a sum or a maximum is one; reduce it.", 2,
    when=lambda o: by.gathers(o, whole=False))  # fmt: skip

EMULATE = (
    Misconception(
        "unmentioned-axis-sums",
        "An axis that out_spec leaves out says that all copies are equal, and one is taken. Nothing is added up.", 1,
        like=functools.partial(of.emulated, copy="sum")),
    Misconception(
        "last-copy-taken",
        "Of several copies the last one was taken. Where they are not equal, the answer is that of coordinate 0.", 2,
        like=functools.partial(of.emulated, copy="last")),
    Misconception(
        "axis-order-free", "In an entry with two axes the first is the slow one, on the way in and on the way out.", 2,
        like=functools.partial(of.emulated, slowest="last")),
    Misconception(
        "body-sees-everything",
        "The body was given the whole arrays. It sees one block of each, once for every device.", 1, like=of.whole),
    Misconception(
        "blocks-not-joined",
        "The devices' results were returned as a list. out_spec says how they become one array.", 1, like=of.listed),
    Misconception(
        "out-spec-ignored",
        "The results of all devices were set one below another. out_spec says along which dimension, if at all.", 2,
        like=functools.partial(of.listed, join=lambda made: np.concatenate(made))),
)  # fmt: skip

SHAPES = (
    Misconception(
        "out-specs-sums",
        "Leaving y out of out_specs adds nothing up. It promises that devices along y agree; in F they do not, and JAX "
        "says so.", 1, like=lambda got: got["F"] == [8]),
    Misconception(
        "scalar-concatenated", "A scalar has no dimension along which blocks could be put side by side: H is refused.", 1,
        like=lambda got: got["H"] != "error"),
    Misconception(
        "copies-are-one",
        "Named in out_specs, an axis puts blocks side by side, equal ones too: C has its rows four times.", 1,
        like=lambda got: got["C"] == [8, 12]),
    Misconception(
        "specs-cancel",
        "Out specs do not undo in specs. Take the block's shape after the body, and multiply by the axes that out_specs "
        "names.", 2, like=lambda got: got["B"] == [8, 12] or got["D"] == [8, 12]),
    Misconception(
        "sums-out-the-rows", "In G each device has 2 rows left, and x, named in out_specs, makes 8 of them.", 2,
        like=lambda got: got["G"] == [2]),
)  # fmt: skip
VALUES = (
    Misconception(
        "out-specs-sums",
        "With P() on both sides every device returns its copy, and one of the copies is the output: nothing is added.", 1,
        like=lambda got: got["a"] in ([8, 16], [4, 8], [2, 4])),
    Misconception(
        "sum-of-copies-is-one", "A psum adds what each device has, and four equal copies add up to four times the value.", 2,
        like=lambda got: got["c"] == [1, 2]),
    Misconception(
        "all-devices-counted", "psum over x adds along x only: 4 devices, not 8.", 2, like=lambda got: got["c"] == [8, 16]),
)  # fmt: skip

CHECKED = (
    Misconception(
        "lie-not-noticed",
        "The block varies over x, its type says so, and out_specs denies it: that is refused, whatever the values "
        "are.", 1,
        like=lambda got: got != "ValueError"),
)  # fmt: skip
UNCHECKED = (
    Misconception(
        "gathered-for-you",
        "Nothing brings blocks together: what comes out has the shape of one block.", 1, like=lambda got: len(got) == 16),
    Misconception(
        "last-shard-shown", "Of the eight that differ, the first device's block is what NumPy is given.", 1,
        like=[14.0, 15.0]),
    Misconception("out-specs-sums", "out_specs adds nothing up.", 1, like=[56.0, 64.0]),
)  # fmt: skip
HOLDERS = (
    Misconception(
        "believes-the-sharding",
        "The sharding says that all eight hold the same. It repeats what out_specs claimed; nobody looked.", 2, like=8),
)  # fmt: skip
HONEST = (
    PROMISE, LEFT,
    Misconception(
        "first-shard-only",
        "The output has the shape of one block: with the check off, each device returned its own, and the first one's is "
        "shown.", 1, when=by.own_blocks),
    Misconception(
        "blocks-repeated",
        "Each device returned the whole vector, and out_specs set these side by side; with P() one copy is taken.", 1,
        when=lambda o: by.each(o, lambda d: o.inputs[0]) and of.shape(o) != o.inputs[0].shape),
    Misconception(
        "sums-padded-blocks",
        "Blocks were padded to full length, and reduced: an all-reduce costs twice a gather.", 2,
        when=lambda o: of.same(o, o.inputs[0]) and o.kinds == {"all-reduce"}),
)  # fmt: skip

NORMALIZE = (
    Misconception(
        "pmean-is-mean",
        "pmean takes the mean over devices, element by element; the mean over a device's own columns is still to be taken.",
        1, when=lambda o: of.same(o, of.across_devices(o.inputs[0], dict(o.case.axes)["y"]))),
    Misconception(
        "blocks-apart",
        "Each device normalized its own columns only; nothing crossed devices.", 1, local=lambda at, x: of.normalized(x)),
    Misconception(
        "rows-and-devices-mixed", "The mean was taken over other rows too, which lie along x. A row lies along y.", 2,
        when=by.mixed_rows),
    Misconception(
        "columns-reduced", "The mean over dimension 0 mixes the rows of a block; the columns of a row are dimension 1.", 2,
        when=by.by_columns),
    Misconception(
        "mean-of-spreads",
        "The standard deviation of a row is not the mean of its blocks' standard deviations: average the squared "
        "deviations from the row's mean, and take the root once.", 2, when=by.mean_of_spreads),
    Misconception(
        "own-mean", "Each device subtracted the mean of its own columns; a row has one mean, that of all its columns.", 2,
        when=by.own_mean),
    Misconception(
        "sum-of-means",
        "psum of the blocks' means is as many times too large as devices share a row; pmean divides by their number.", 2,
        when=by.sums_as_means),
    Misconception(
        "sum-of-means",
        "psum of the blocks' mean squares is as many times too large as devices share a row; pmean divides by their "
        "number.", 2,
        when=lambda o: by.normalized_by(o, lambda blocks, n: np.sqrt(n) * blocks.std((1, 2)))),
    Misconception(
        "mean-of-variances",
        "The variance of a row is not the mean of its blocks' own variances: what the blocks' means differ by is "
        "missing. Square deviations from the mean of the row.", 2,
        when=lambda o: by.normalized_by(o, lambda blocks, n: np.sqrt(blocks.var(2).mean(1)))),
    Misconception(
        "variance-not-rooted", "Divided by the variance: the standard deviation is its root.", 1,
        when=lambda o: by.normalized_by(o, lambda blocks, n: blocks.var((1, 2)))),
    Misconception(
        "not-divided", "The mean is taken away, and nothing is divided: the standard deviation is to be 1.", 1,
        when=lambda o: by.normalized_by(o, lambda blocks, n: np.ones(len(blocks)))),
    Misconception(
        "one-degree-less", "NumPy's x.std() divides by the number of entries, and not by one less.", 1,
        when=lambda o: by.normalized_by(o, lambda blocks, n: blocks.reshape(len(blocks), -1).std(1, ddof=1))),
    LEFT, GATHERS, PARTS,
    Misconception(
        "whole-blocks-summed", "Whole blocks were sent: reduce the block to one number a row first.", 2,
        when=by.whole_blocks),
)  # fmt: skip
TEST = (
    Misconception(
        "moments-prove-nothing",
        "A test of mean 0 and standard deviation 1 passes wrong arrays too: plus and minus ones have both. Compare with "
        "what should have come out.", 3, like=of.moments),
    Misconception(
        "moments-of-rows-prove-nothing",
        "Rows with mean 0 and standard deviation 1 can be other rows than those of x. Compare with what should have come "
        "out.", 3, like=functools.partial(of.moments, axis=1)),
    Misconception(
        "exactly-equal", "All right answers are refused. Look at one: x and y are lists of lists, its last digits differ "
        "from NumPy's, so allow a small difference, and the standard deviation is that of each row, as NumPy's std gives "
        "it.", 3,
        like=lambda x, y: bool((np.asarray(y) == of.normalized(np.asarray(x))).all())),
    Misconception(
        "first-row-compared", "The first row is right, and another one may be wrong. Compare all of it.", 3,
        like=lambda x, y: of.is_normalized(x[:1], y[:1])),
    Misconception("believes-everything", "It accepts every array.", 3, like=lambda x, y: True),
    Misconception(
        "differences-with-their-sign", "Entries that are too large pass: compare absolute differences.", 3,
        like=of.not_below),
    Misconception(
        "differences-with-their-sign", "Entries that are too small pass: compare absolute differences.", 3,
        like=functools.partial(of.not_below, sign=-1)),
)  # fmt: skip

MASKED = (
    PROMISE, LEFT,
    Misconception(
        "mean-of-means",
        "Means were put together, which gives every device, or sentence, the same weight, however few words it has. Add "
        "sums and counts up first, then divide once.", 1, when=by.mean_of_means),
    Misconception(
        "padding-counted", "All entries were averaged, behind the end of the sentences too.", 1,
        like=lambda losses, lengths: losses.mean()),
    Misconception(
        "padding-as-zeros", "The padding is zero in the sum, and still counted in the denominator.", 1,
        like=lambda losses, lengths: of.masked_mean(losses, lengths) * lengths.sum() / losses.size),
    Misconception(
        "each-device-its-own",
        "Each device returned the mean of its own sentences: sums, and counts, are to be added up over devices.", 1,
        local=lambda at, losses, lengths: of.masked_mean(losses, lengths.astype(int))),
    Misconception(
        "psum-and-pmean", "The mean is as many times too large or too small as x has devices: one of the two sums is a "
        "pmean, say, and the other a psum.", 2, when=lambda o: by.scaled(o, of.masked_mean)),
    Misconception(
        "own-words-counted", "The losses of all devices were added, and divided by the words of one: count over all too.", 2,
        when=by.own_counts),
    Misconception(
        "nothing-by-nothing", "A device without a word divides zero by zero, and whatever that is added to is no number "
        "either. Add up first; divide once, at the end.", 2, when=lambda o: not by.finite(o)),
    Misconception(
        "nothing-counts-as-one", "max(count, 1) stands before the sum over devices, so a device without a word counts as "
        "one. Add the counts first.", 2, when=by.nothing_as_one),
    Misconception(
        "last-word-too", "A sentence of n words has the positions 0 to n - 1.", 1,
        when=by.last_word_too),
    GATHERS, PARTS,
)  # fmt: skip

OVERFLOW = Misconception(
    "no-maximum-subtracted",
    "Some value is no number: float32 holds neither exp(100) nor exp(-200). Subtract the maximum of the row first, the "
    "same on all devices.", 2,
    when=lambda o: not by.finite(o))  # fmt: skip
PART_OF_ROW = Misconception(
    "part-of-the-row-summed", "The maximum is right, but the sum is not that of the whole row, and far below the maximum it "
    "is zero. Add up the block's columns, then psum over x; divide, or take the logarithm, after that.", 2,
    when=by.sums_a_part)  # fmt: skip
ONE_MAXIMUM = Misconception(
    "one-maximum-for-all-rows", "The largest logit of all rows was subtracted. In a row that lies far below it every "
    "exponential is zero: subtract the maximum of the row.", 2,
    when=lambda o: by.overflows(o, by.one_maximum))  # fmt: skip
MEAN = Misconception(
    "mean-for-maximum", "What was subtracted from a row, such as its mean, lies so far below some logit that the "
    "exponential of the difference is too large for float32. Above the maximum there is none.", 2,
    when=lambda o: by.overflows(o, by.row_means))  # fmt: skip
SOFTMAX = (
    LEFT, ONE_MAXIMUM, MEAN, PART_OF_ROW, OVERFLOW,
    Misconception(
        "pmean-for-psum", "pmean divides the sum by the number of devices along x: all is as many times too large.", 2,
        when=lambda o: of.same(o, by.devices(o) * of.softmax(o.inputs[0].astype(np.float64)))),
    Misconception(
        "local-softmax", "Each device divided by the sum of its own columns, so a row adds up to the number of devices "
        "along x.", 1,
        local=lambda at, x: of.softmax(x)),
    Misconception(
        "own-maximum", "Each device subtracted its own maximum: the sums are in different units, and cannot be added.", 2,
        when=by.own_maximum),
    Misconception(
        "devices-compared",
        "pmax and psum go over devices, element by element; the block's own columns are still to be reduced.", 1,
        when=by.softmax_over_devices),
    Misconception(
        "everything-adds-up", "All rows together add up to 1. Reduce over dimension 1 only.", 1,
        like=lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum()),
    Misconception(
        "columns-add-up", "Softmax was taken over dimension 0: columns add up to 1 instead of rows.", 1,
        like=lambda x: of.softmax(x.T).T),
    GATHERS, PARTS,
    Misconception(
        "whole-blocks-summed", "Whole blocks were sent: reduce the block to one number a row first.", 2,
        when=by.whole_blocks),
)  # fmt: skip
LOGSUMEXP = (
    PROMISE, LEFT, ONE_MAXIMUM, MEAN, PART_OF_ROW, OVERFLOW,
    Misconception(
        "pmean-for-psum", "pmean divides the sum by the number of devices along x, and the logarithm of that is missing.", 2,
        when=by.logarithm_of_mean),
    Misconception(
        "maximum-forgotten", "What was subtracted before exp has to be added after log.", 2,
        like=lambda x: of.logsumexp(x) - x.max(1)),
    Misconception(
        "logarithms-added", "The logarithm of a sum is not the sum, or mean, of logarithms: add the exponentials up.", 1,
        when=by.summed_logarithms),
    Misconception(
        "each-device-its-own",
        "Each device returned the logarithm of its own sum: exponentials are to be added up over devices.", 1,
        local=lambda at, x: of.logsumexp(x)),
    GATHERS, PARTS,
)  # fmt: skip

SOLVES = (
    Misconception(
        "vector-looks-like-matrix",
        "With two dimensions b is taken for a matrix, and not for the stack of vectors that it is. A[0] and b[0] of a block "
        "are one system; jax.vmap says that there is a stack.", 1,
        error=r"Invalid shapes for solve|contracting dimensions to have the same shape, got \(\d+,\) and \([18],\)"),
    Misconception(
        "brought-to-the-host",
        "NumPy, and process_allgather, need arrays that are there; inside jit none is. And there is nothing to bring "
        "together: process_allgather would even stack the result in one dimension more.", 2,
        error="TracerArrayConversionError|process_allgather|multihost"),
    Misconception(
        "block-dimension-lost",
        "A[0] took the block's first dimension away, so the vectors were set end to end: put it back with [None].", 2,
        when=lambda o: of.shape(o) == (o.inputs[1].size,)),
    Misconception(
        "one-system-only",
        "One solution came out. A[0] of the whole array is one system of all; inside shard_map it is each device's own, and "
        "out_specs sets the solutions one below another.", 1,
        when=lambda o: of.shape(o) == o.inputs[1].shape[1:]),
    Misconception(
        "damping-forgotten", "The matrix is A + 16 I.", 1,
        like=lambda A, b: np.stack([np.linalg.solve(m, v) for m, v in zip(A, b)])),
    Misconception(
        "transposed", "The solution of the transposed system: A[0] @ x should give b[0].", 1,
        like=lambda A, b: of.solves(A.transpose(0, 2, 1), b)),
    Misconception(
        "everyone-solves-all", "All matrices were brought to every device, and a device needs its own.", 1,
        when=lambda o: any(c.payload_bytes >= o.inputs[0].nbytes for c in o.collectives)),
    Misconception(
        "whole-everywhere", "Some devices hold the same solutions. Each should solve one system, and keep what it found: "
        "in_specs and out_specs name all axes of the mesh.", 2,
        when=lambda o: o.placements[0].copies > 1),
)  # fmt: skip

KINDS = (
    Misconception(
        "rows-are-independent-so-free",
        "They are, and you know it. XLA for CPU does not: it partitions what it has a rule for, and gathers the "
        "rest. (XLA for TPU has a rule for the two best of short rows.)", 1,
        like=lambda got: not got),
    Misconception(
        "thinks-of-sums", "Nothing is added up: XLA for CPU brings all rows to every device.", 1,
        like=lambda got: "all-reduce" in got),
)  # fmt: skip
TRAVEL = Misconception(
    "custom-partitioning-stays-home",
    "custom_partitioning calls your Python while XLA compiles, so such a program cannot be exported, nor graded. "
    "shard_map says the same in the program itself.", 1, error="host_callback")  # fmt: skip
BY_ROW = (
    TRAVEL,
    Misconception(
        "compiler-does-not-know",
        "On the whole array XLA for CPU sends all rows to every device. In shard_map, with in_specs that cut the rows as "
        "they lie, a device takes its own.", 1, when=lambda o: not o.manual and "all-gather" in o.kinds),
    Misconception(
        "best-of-columns", "The best were sought down the columns, in dimension 0.", 1, when=by.down_columns),
    Misconception(
        "three-or-one", "Two are wanted for each "
        "row.", 1, when=lambda o: of.shape(o)[0] == len(o.inputs[0]) and of.shape(o)[1] != of.BEST),
)  # fmt: skip
BY_COLUMN = (
    TRAVEL, PROMISE,
    Misconception(
        "local-index-as-global",
        "What is largest is right. A column found in a block is counted from the block's start: add axis_index times the "
        "block's width.", 2, when=by.local_columns),
    Misconception(
        "column-among-candidates",
        "What is largest is right. top_k of the gathered candidates says which candidate it was, 0 to 2n - 1; fetch that "
        "one's own column.", 2, when=by.places_of_candidates),
    Misconception(
        "place-by-place",
        "pmax compares all best with each other, and all second best. The best two of the row may be on one device.", 1,
        when=by.place_by_place),
    Misconception(
        "padded-and-summed", "Candidates were padded to full length, and reduced: an all-reduce costs twice a gather.", 2,
        when=lambda o: o.kinds == {"all-reduce"} and of.same(o, of.best(o.inputs[0])[0])
        and all(c.payload_bytes < o.inputs[0].nbytes for c in o.collectives)),
    Misconception(
        "best-of-each-device",
        "Each device returned the best of its own columns; the best of all are among them, and nobody compared.", 1,
        when=lambda o: not o.collectives, breaks=True),
    Misconception(
        "scores-gathered",
        "All scores were gathered. No score that is not among the best two of its device can be among the best two of all.",
        2, when=lambda o: any(c.kind == "all-gather" and c.payload_bytes == o.inputs[0].nbytes for c in o.collectives)),
)  # fmt: skip

MECHANISM = why(
    "What does `out_specs=P()` do without the check?",
    a=Believed(
        "It makes one array of the blocks: it puts them together, or adds them up.",
        "out-specs-act",
        "What came out is as long as one block and has the numbers of the first: nothing was put "
        "together, and nothing added.",
    ),
    b="It claims that all devices hold the same, and nobody compares.",
    c=Believed(
        "It gives the first block to all devices.",
        "first-is-copied",
        "The picture marks the devices that hold another block: nothing was given to them.",
    ),
)
