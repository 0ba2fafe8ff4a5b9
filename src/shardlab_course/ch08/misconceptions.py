"""Chapter 8's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

import math

import numpy as np

from shardlab_course.ch08 import oracles as of
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

READY_MADE = Misconception(
    "uses-a-finished-collective",
    "Something other than ppermute moves data; here you build the collective out of ppermute alone.",
    1, when=lambda o: bool(o.kinds - {"collective-permute"}), barred=True)  # fmt: skip
LEAPS = Misconception(
    "leaps-over-neighbours",
    "A permute sends further than to the next device: on a real ring such a message crosses every link on its "
    "way, and each of them carries it.", 1, when=rings.leaps, barred=True)  # fmt: skip
PROMISE = Misconception(
    "promise-not-proved",
    "What ppermute returns counts as varying, and no type says that all devices have ended with the same; here, "
    "and after looking at the copies, check_vma=False is the honest way.", 2, error="can't be statically "
    "inferred")  # fmt: skip
PARTS = Misconception(
    "promise-not-proved",
    "out_specs=P() says that all devices end with the same. Here each is to end with its own part of the sum: P('x').", 2,
    error="can't be statically inferred")  # fmt: skip
CARRY = Misconception(
    "carry-changes-type",
    "Two arrays have to be of one type, and one is equal everywhere, as fresh zeros are, while the other varies over x. "
    "Often it is what a loop starts from: start from a block, or pcast to varying.", 2, error="manual axis types do not "
    "match")  # fmt: skip
OPEN = Misconception(
    "ring-is-open", "The permutation does not go round all devices: some device gets zeros, and passes them on.",
    1, when=lambda o: rings.is_open(o) and not rings.leaps(o), breaks=True)  # fmt: skip
COPIES = Misconception(
    "copies-as-parts",
    "Every device holds everything, and out_specs=P('x') set these copies one below another. P() says that they "
    "are copies of one array, and with check_vma=False you vouch for it.",
    2, when=lambda o: of.copies_as_parts(o, o.inputs[0]))  # fmt: skip
SUMS = Misconception(
    "copies-as-parts",
    "What the devices hold was set one below another, by out_specs=P('x') or by a gather. Each is to end with the whole "
    "sum, and P() says that these are copies of one array.", 2,
    when=lambda o: of.copies_as_parts(o, o.inputs[0][0]))  # fmt: skip
KEPT = Misconception(
    "dimension-of-devices-kept",
    "A device's block of the terms has shape (1, I, J); its term is block[0], and the sum has no such dimension.",
    1, when=lambda o: of.rank(o) == 3)  # fmt: skip

TOO_MANY = Misconception(
    "one-hop-too-many", "n - 1 hops bring every block to every device; one hop more brings one that is there already.",
    2, when=lambda o: rings.whole(o, o.inputs[0]) and rings.hops(o) == rings.devices(o) and rings.needless(o))  # fmt: skip

GATHERING = (LEFT, READY_MADE, LEAPS, PROMISE, CARRY, OPEN)
GATHER = (
    *GATHERING, COPIES,
    Misconception(
        "arrival-order",
        "Each device laid the blocks down by the time at which they came, so each has another order; a block's place is "
        "that of the device it began on.", 2, when=lambda o: of.rotated(o, o.inputs[0])),
    Misconception(
        "counts-the-wrong-way",
        "The places go the wrong way round. After i hops to the next device you hold what began on (d - i) % n, after i "
        "hops to the one before what began on (d + i) % n.",
        2, when=lambda o: of.mirrored(o, o.inputs[0])),
    Misconception(
        "one-hop-short", "Blocks are missing, with zeros in their place: n blocks take n - 1 hops, and a device keeps its "
        "own and every arrival.",
        2, when=lambda o: of.incomplete(o, o.inputs[0])),
    TOO_MANY,
    Misconception(
        "sends-all-it-has",
        "The buffer travels, with blocks that the next device has already; only the block that came last is news.",
        1, when=lambda o: rings.only_permutes(o) and rings.largest(o) > o.inputs[0].nbytes // rings.devices(o)),
    Misconception(
        "its-number-travels-too",
        "Each block takes the number of its device along. That need not be sent: axis_index and the number of hops say it.",
        2, when=lambda o: rings.only_permutes(o) and any(c.payload_bytes == 4 for c in o.collectives)),
)  # fmt: skip

SUMMING = (
    Misconception(
        "same-chunk-everywhere",
        "In each round every device adds its chunk of the same number, so different chunks meet in one sum; which chunk "
        "is due depends on axis_index.", 2, when=of.same_chunk_everywhere),
    Misconception(
        "term-counted-twice",
        "Every sum has one device's term twice: n terms are n - 1 additions.", 2, when=lambda o: of.miscounted(o, 1)),
    Misconception(
        "term-left-out",
        "Every sum lacks one device's term. n - 1 hops bring n - 1 terms to what a sum begins with: let it begin with a "
        "chunk, not with zeros, and add one after the last hop too.",
        2, when=lambda o: of.miscounted(o, -1)),
)  # fmt: skip
ENDS = Misconception(
    "sum-ends-next-door", "Each sum is whole, and lies one device beside its own: begin one chunk earlier, or later.",
    2, when=lambda o: of.shifted(o, of.summed(o.inputs[0])))  # fmt: skip
ROTATION = Misconception(
    "full-rotation-ring",
    "Whole terms or totals travel round the ring. Each hop carries n chunks where one would do, and each device adds in "
    "its own order: cut the term, and let sums of chunks travel.",
    1, when=of.rotates_terms)  # fmt: skip

SCATTER = (LEFT, READY_MADE, LEAPS, PARTS, CARRY, KEPT, ROTATION, OPEN, ENDS, *SUMMING)
REDUCE = (
    *GATHERING, SUMS, KEPT, ROTATION, ENDS,
    Misconception(
        "sends-all-it-has",
        "The buffer travels, with sums that the next device has already; only the sum that came last is news.",
        1, when=lambda o: of.adds_up(o) and rings.largest(o) > o.inputs[0][0].nbytes // rings.devices(o)),
    Misconception(
        "arrival-order",
        "Each device laid the sums down in the order in which they came; a sum's place is the number of its chunk.",
        2, when=lambda o: of.rotated(o, of.summed(o.inputs[0]))),
    Misconception(
        "counts-the-wrong-way",
        "In the second half the places go the wrong way round. After i hops to the next device you hold the sum that "
        "began on (d - i) % n, after i hops to the one before that of (d + i) % n.", 2,
        when=lambda o: of.mirrored(o, of.summed(o.inputs[0]))),
    Misconception(
        "half-an-all-reduce",
        "Every device holds one finished chunk, and there it ends; the second half passes the sums round once more.",
        1, when=of.ends_halfway),
    Misconception(
        "one-hop-short", "Finished sums are missing, with zeros in their place: the second half takes n - 1 hops as well, "
        "and a device keeps its own and every arrival.", 2, when=lambda o: of.incomplete(o, of.summed(o.inputs[0]))),
    Misconception(
        "term-left-out",
        "Every sum lacks one device's term. In the first half it begins with a chunk, not with zeros, and each of n - 1 "
        "hops, the last one too, is followed by an addition.", 2, when=of.short_sums),
    Misconception(
        "finished-sums-added",
        "Some sums have a term more than once. In the first half each device adds its own once to each; in the second what "
        "arrives is finished, and is not added.",
        2, when=lambda o: bool(np.any(of.tally(o) > 1))),
    Misconception(
        "unfinished-sum-passed-on",
        "Some sums lack terms: the first half ends too early or does not add at every stop, or the second ends too early, "
        "or passes on another chunk than the one that is finished.", 2, when=lambda o: bool(np.any(of.tally(o) < 1))),
)  # fmt: skip
BOTH_WAYS = (
    *GATHERING, *GATHER[len(GATHERING) : len(GATHERING) + 4],
    Misconception(
        "still-one-way", "All blocks still travel one way round: n - 1 hops, each of which waits for the one before.",
        1, when=lambda o: o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 1),
    Misconception(
        "one-way-after-the-other", "There are hops in both directions, and each waits for the one before: let both "
        "ways begin with the device's own block, and send on what just came.", 1,
        when=lambda o: o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 2),
    Misconception(
        "halves-both-ways",
        "Half a block goes each way, but all the way round: each hop is shorter, and there are as many of them in a row. "
        "Whole blocks need to go half round only.",
        2, when=lambda o: of.both_all_round(o) and rings.largest(o) < o.inputs[0].nbytes // rings.devices(o)),
    Misconception(
        "blocks-arrive-twice",
        "Whole blocks go all the way round, both ways, so each arrives twice. It is enough to go half round.",
        2, when=of.both_all_round),
    Misconception(
        "antipode-sent-twice", "With an even n the block from opposite comes from both sides; it is needed once.",
        3, when=lambda o: rings.whole(o, o.inputs[0]) and rings.hops(o) == rings.devices(o) and rings.needless(o)
        and rings.devices(o) % 2 == 0 and o.depth == rings.devices(o) // 2),
    TOO_MANY,
)  # fmt: skip

HALO = (
    LEFT,
    Misconception(
        "edges-for-everybody",
        "The edges of all blocks go to all devices, and each needs two of those rows; that grows with every device.",
        2, when=lambda o: of.brings_together(o) and rings.largest(o) < o.inputs[0].nbytes),
    Misconception(
        "gathers-everything", "The array is gathered, and each device needs two rows of it.", 1, when=of.brings_together),
    Misconception(
        "wraps-around",
        "Beyond an end the row of the other end was taken: a permutation closes the ring, and this line has ends.",
        1, when=of.wrapped),
    Misconception(
        "no-exchange",
        "Every block was filtered as if nothing lay beside it: right inside, wrong in the rows beside another block.",
        1, when=of.lonely),
    Misconception(
        "one-side-only", "Only one of a block's two edges got its neighbour's row, the other one zeros: a device needs a "
        "row from the one before and a row from the one after, so two permutes.", 1, when=of.one_sided),
    Misconception(
        "neighbours-mixed-up",
        "A row from the wrong side, or the wrong one of the right side: above you lies the last row of the device before, "
        "below you the first row of the device after.", 2, when=of.mixed_up),
    Misconception(
        "edge-rows-repeated",
        "Beyond the ends the first and the last row were repeated; asked for are zeros, which ppermute leaves there "
        "anyway.",
        2, like=lambda x: of.filtered(x, x[0], x[-1])),
    Misconception(
        "sends-whole-blocks", "More than one row is sent to each side, and one of them is used; slice before you send.",
        1, when=lambda o: rings.only_permutes(o) and rings.largest(o) > o.inputs[0][0].nbytes),
)  # fmt: skip

STEPS = (
    Misconception(
        "one-phase-only", "Adding up is half of it: the sum has to come back, in as many steps again.", 1,
        like=of.steps_with(once=True)),
    Misconception(
        "tree-as-deep-as-wide", "A tree halves the number of holders in each step: it takes log2(n) steps, not n - 1.", 2,
        like=of.steps_with(linear=True)),
    Misconception(
        "logarithm-rounded-down", "With 5 devices one is left over after two halvings, and takes a third: round up.", 3,
        like=of.steps_with(rounded=True)),
    Misconception(
        "hops-of-a-closed-ring", "n chunks pass n - 1 links: nobody sends a chunk back to where it began.", 2,
        like=of.steps_with(more=1)),
)  # fmt: skip
SECONDS = (
    Misconception(
        "ring-sends-everything", "A hop of the ring carries one chunk, V / n bytes.", 1, like=of.seconds_with(whole=True)),
    Misconception(
        "tree-sends-chunks",
        "A tree adds whole arrays: each of its hops carries V bytes.", 1, like=of.seconds_with(cut=True)),
    Misconception(
        "latency-and-bytes-added",
        "In the model of chapter 2 a hop takes its latency or the time of its bytes, whichever is longer, not both.",
        2, like=of.seconds_with(added=True)),
)  # fmt: skip
CROSSOVER = (
    Misconception(
        "latency-of-one-hop",
        "That is the size of a message that takes as long as its latency; at the crossing the ring still waits for its "
        "2 (n - 1) latencies, and the tree for bytes.", 3, like=lambda n, bandwidth, latency: latency * bandwidth),
    Misconception(
        "chunk-instead-of-array", "From that size on the ring is bound by bytes; it has overtaken the tree before.",
        3, like=lambda n, bandwidth, latency: n * latency * bandwidth),
)  # fmt: skip

SHAPES = (
    Misconception(
        "tiled-by-default", "Without tiled=True an all_gather stacks the blocks along a new dimension.",
        1, like=lambda said: said["a"] == [8, 3]),
    Misconception(
        "new-dimension-always-first",
        "axis says where the new dimension goes.", 2, like=lambda said: said["c"] == [4, 2, 3]),
    Misconception(
        "scatter-keeps-the-dimension",
        "Without tiled=True psum_scatter takes the scattered dimension away: each device gets one entry of it.",
        1, like=lambda said: said["e"] in ([1, 6], [1, 24])),
    Misconception(
        "scatter-cuts-anything",
        "Without tiled=True the scattered dimension must be as long as the axis has devices: 8 over 4 is an error.",
        2, like=lambda said: isinstance(said["g"], list)),
    Misconception(
        "exchange-changes-the-size",
        "An all_to_all moves elements and makes none: what one dimension loses the other gains.",
        2, like=lambda said: isinstance(said["h"], list) and math.prod(said["h"]) != 32),
)  # fmt: skip

SUM_ITSELF = Misconception(
    "sums-in-one-go", "That is the finished all-reduce; here it is to be made of a reduce-scatter and an all-gather.",
    1, when=lambda o: "all-reduce" in o.kinds, barred=True)  # fmt: skip
COMPOSE = (
    LEFT, SUM_ITSELF, SUMS,
    Misconception(
        "promise-not-proved",
        "out_specs promises equal copies, and what comes back counts as varying: a block does, and so does what all_gather "
        "returns unless you say to='invarying'.", 2, error="can't be statically inferred"),
    Misconception(
        "gathers-all-terms",
        "Every device collects all terms and adds them itself: n/2 times the bytes of an all-reduce, n times its additions.",
        1, when=lambda o: o.kinds == {"all-gather"}),
    Misconception(
        "half-an-all-reduce",
        "Every device holds its own part of the sum, and there it ends; the all-gather is missing.", 1, when=of.scattered),
    Misconception(
        "scatter-not-tiled",
        "Without tiled=True the scattered dimension must be as long as the axis has devices, and it disappears.",
        2, error="must match shard count"),
    Misconception(
        "gather-not-tiled", "Without tiled=True the gather stacks the devices' parts along a new dimension.",
        2, when=of.parts_stacked),
    Misconception(
        "gathers-another-dimension",
        "Scattered along one dimension and gathered along another: the parts do not come together again.",
        2, when=lambda o: "all-gather" in o.kinds and of.rank(o) == 2 and o.placements[0].shape != o.inputs[0].shape[1:]),
)  # fmt: skip
EXCHANGE = (
    LEFT,
    Misconception(
        "gathers-then-slices", "Everything was gathered, and most of it thrown away: n times the bytes of an all-to-all.",
        1, when=lambda o: "all-gather" in o.kinds),
    Misconception(
        "only-renamed", "Nothing moved: out_specs says where blocks lie, and does not bring them there.",
        1, when=lambda o: not o.collectives, breaks=True),
    Misconception(
        "split-and-concat-swapped",
        "split_axis is the dimension that was whole and gets cut, concat_axis the one that was cut and becomes whole.",
        2, when=of.split_again, error="to be divisible"),
    Misconception(
        "out-specs-as-before",
        "Each device holds the right block, and out_specs says that another dimension is cut than the one that is.",
        2, when=of.right_blocks),
    Misconception(
        "not-tiled",
        "Without tiled=True the split dimension must be as long as the axis has devices, and a new one appears for them.",
        2, error="to equal x.shape"),
)  # fmt: skip

MECHANISM = why(
    "What do these collectives do with the devices, if nobody says `tiled=True`?",
    a="They take them for a dimension of their own, as long as the axis: a gather makes one, a scatter takes one away.",
    b=Believed(
        "They join or cut a dimension in as many pieces as there are devices, wherever that divides.",
        "pieces-that-divide",
        "Then g would be no error, for 8 divides by 4: that is what `tiled=True` does, in i.",
    ),
    c=Believed(
        "The same as with it: only the order of the elements is another.",
        "only-the-order",
        "The shapes that JAX prints differ: compare a with b, and e with f.",
    ),
)
