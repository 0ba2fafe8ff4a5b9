"""Chapter 12, what several exercises use: misconceptions."""

from __future__ import annotations

from shardlab_course.ch12.shared import (
    bare,
    chunk_missing,
    clamped,
    hop_flops,
    lagging,
    local_index,
    many_chunks,
    one_only,
    one_twice,
    output_travels,
    own_only,
    product,
    products,
    right,
    same_rows,
    travels,
    waiting,
    wrong_way,
)
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_judge.question import WrongCost, WrongProgram, WrongValues

READY_MADE = WrongProgram(
    "uses-a-finished-collective",
    "A finished collective is one step: it waits for all of its input, and whatever needs its output waits for all of it. "
    "In this exercise chunks move by ppermute alone.", 1,
    when=lambda o: bool(o.kinds - {"collective-permute"}), barred=True)  # fmt: skip
LEAPS = WrongProgram(
    "leaps-over-neighbours",
    "A permute sends to a device that is not the next one along x. On a real ring such a message may have to cross several "
    "links.",
    1, when=rings.leaps, barred=True)  # fmt: skip
OPEN = WrongValues(
    "ring-is-open", "The permutation does not go round all devices: some device gets zeros.", 1,
    when=lambda o: rings.is_open(o) and not rings.leaps(o), breaks=True)  # fmt: skip
CARRY = WrongProgram(
    "carry-changes-type",
    "Two arrays must have the same type, but one is equal on all devices and the other varies over x. Perhaps a loop starts "
    "from fresh zeros: start from a product, or use pcast to varying. Or in_specs names no x.",
    2, error="manual axis types do not "
    "match")  # fmt: skip
APART = (
    "Some hop has less than a chunk's product beside it. Perhaps the products wait for this hop, or the hop waits for them."
)
NOTHING_BESIDE = WrongProgram(
    "moves-first-then-multiplies", APART, 1, barred=True,
    when=lambda o: bare(o, 0.99 * hop_flops(o)) and right(o, product))  # fmt: skip
LATE = WrongProgram(
    "most-waits-for-the-last-hop", "Every hop has arithmetic beside it, but more than half of all arithmetic waits for the "
    "last hop. Multiply each chunk as it comes.", 1, barred=True,
    when=lambda o: right(o, product) and waiting(o, products(o)) > 0.5)  # fmt: skip
ONE_MORE = WrongCost(
    "one-hop-too-many", "n - 1 hops bring every chunk to every device, and there are n. Perhaps the last one brings a "
    "chunk that the device has already had.", 2,
    when=lambda o: rings.hops(o) == rings.devices(o) and rings.needless(o))  # fmt: skip
IDLE = WrongValues(
    "no-exchange", "Nothing moves between devices, and each has only a part of what it needs.", 1,
    when=lambda o: not o.collectives and bool(o.shards[0][0][2].size), breaks=True)  # fmt: skip
WAYS = (LEFT, READY_MADE, LEAPS, OPEN, CARRY)
INDICES = (
    WrongValues(
        "chunk-index-local", "Rows of W were taken in the order 0, 1, 2, ... on every device. Which chunk a device has "
        "after i hops depends on axis_index too.", 2, when=local_index),
    WrongValues(
        "counts-the-wrong-way", "The rows of W are counted against the direction in which chunks travel: with a ring that "
        "sends to d - 1, device d holds chunk d + i after i hops.", 2, when=wrong_way),
    WrongValues(
        "rows-one-off", "Each chunk was multiplied by the rows of a neighbouring chunk: the chunks are one hop ahead of "
        "the count of rows, or one behind.", 2, when=lagging),
    WrongValues(
        "no-modulo", "d + i goes past n - 1, and the last rows were taken there: count modulo n. Perhaps dynamic_slice "
        "moved the start back: it does so without an error.",
        2, when=clamped),
    WrongValues(
        "same-rows-each-round", "Every chunk was multiplied by the same rows of W; the rows must change from hop to hop.",
        2, when=same_rows),
    WrongValues(
        "own-chunk-only", "The result is the product of each device's own chunk alone: the sum over the contracted "
        "dimension lacks all other chunks.", 1, when=own_only),
    WrongValues(
        "one-chunk-only", "The result is the product of one chunk, not the sum over all. Perhaps the total was replaced: "
        "add to it.", 1, when=one_only),
    WrongCost(
        "chunk-counted-twice", "Every chunk's product is in the result, but one of them is there twice.", 2,
        when=one_twice),
    WrongValues(
        "chunk-left-out", "One chunk's product is missing on every device: n chunks need n products and n - 1 hops.", 2,
        when=chunk_missing),
    IDLE,
)  # fmt: skip
MORE = (
    WrongValues(
        "weights-travel", "Blocks of W travel. W should stay: every chunk of X is multiplied by the device's own columns.",
        1, when=lambda o: rings.only_permutes(o) and travels(o, 1)),
    WrongValues(
        "sums-travel", "Something that travels is as large as a device's sum, and perhaps it is the sum. Each sum should "
        "stay where it is; only chunks of X should travel.", 1,
        when=lambda o: rings.only_permutes(o) and output_travels(o), breaks=True),
    WrongCost(
        "sends-all-it-has", "A hop carries as many bytes as several chunks, and only one chunk is new to the receiver.",
        1, when=many_chunks),
)  # fmt: skip
