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
    "A finished collective is one step: it waits for all that it takes, and what needs it waits for all "
    "that it gives. Here chunks move by ppermute alone.", 1,
    when=lambda o: bool(o.kinds - {"collective-permute"}), barred=True)  # fmt: skip
LEAPS = WrongProgram(
    "leaps-over-neighbours",
    "A permute sends further than to the next device: on a real ring such a message crosses every link on its way.",
    1, when=rings.leaps, barred=True)  # fmt: skip
OPEN = WrongValues(
    "ring-is-open", "The permutation does not go round all devices: some device gets zeros, and passes them on.", 1,
    when=lambda o: rings.is_open(o) and not rings.leaps(o), breaks=True)  # fmt: skip
CARRY = WrongProgram(
    "carry-changes-type",
    "Two arrays have to be of one type, and one is equal everywhere, as fresh zeros are, while the other varies over x. "
    "Often it is what a loop starts from: start from a product, or pcast to varying.", 2, error="manual axis types do not "
    "match")  # fmt: skip
APART = ("Some hop has less than a chunk's product beside it: the products wait for this hop, or the hop waits for "
         "them.")  # fmt: skip
NOTHING_BESIDE = WrongProgram(
    "moves-first-then-multiplies", APART, 1, barred=True,
    when=lambda o: bare(o, 0.99 * hop_flops(o)) and right(o, product))  # fmt: skip
LATE = WrongProgram(
    "most-waits-for-the-last-hop", "Every hop has arithmetic beside it; but more than half of all "
    "arithmetic waits for the last hop. Multiply each chunk as it comes.", 1, barred=True,
    when=lambda o: right(o, product) and waiting(o, products(o)) > 0.5)  # fmt: skip
ONE_MORE = WrongCost(
    "one-hop-too-many", "n - 1 hops bring every chunk everywhere; one hop more brings one that has been there.", 2,
    when=lambda o: rings.hops(o) == rings.devices(o) and rings.needless(o))  # fmt: skip
WAYS = (LEFT, READY_MADE, LEAPS, OPEN, CARRY)
INDICES = (
    WrongValues(
        "chunk-index-local", "Rows of W were taken in the order 0, 1, 2, ... on every device. Which chunk is at hand "
        "after i hops depends on axis_index too.", 2, when=local_index),
    WrongValues(
        "counts-the-wrong-way", "The rows of W are counted against the direction in which chunks travel: with a ring that "
        "sends to d - 1, device d holds chunk d + i after i hops.", 2, when=wrong_way),
    WrongValues(
        "rows-one-off", "Each chunk met the rows that go with a neighbouring one: what is at hand is a hop further, or "
        "a hop less far, than the count of rows says.", 2, when=lagging),
    WrongValues(
        "no-modulo", "d + i goes past n - 1, and dynamic_slice takes the last rows then, without a word: count modulo n.",
        2, when=clamped),
    WrongValues(
        "same-rows-each-round", "Every chunk met the rows that go with the device's own chunk; they change from hop to "
                                "hop.",
        2, when=same_rows),
    WrongValues(
        "own-chunk-only", "Each device multiplied its own chunk and stopped: the sum over the contracted dimension lacks "
        "all others.", 1, when=own_only),
    WrongValues(
        "one-chunk-only", "The result has the product of one chunk, not the sum over all: add to the total, and do not "
        "replace it.", 1, when=one_only),
    WrongCost(
        "chunk-counted-twice", "Every chunk's product is in the result, and one chunk's is there twice.", 2,
        when=one_twice),
    WrongValues(
        "chunk-left-out", "One chunk's product is missing on every device: n chunks are n products and n - 1 hops.", 2,
        when=chunk_missing),
)  # fmt: skip
MORE = (
    WrongValues(
        "weights-travel", "Blocks of W travel. Here W stays where it is: the device's own columns meet every chunk of X.",
        1, when=lambda o: rings.only_permutes(o) and travels(o, 1)),
    WrongValues(
        "sums-travel", "Sums travel. Each device's sum is its own, and stays; only chunks of X travel.", 1,
        when=lambda o: rings.only_permutes(o) and output_travels(o), breaks=True),
    WrongCost(
        "sends-all-it-has", "A hop carries more than one chunk; only what came last is news.", 1, when=many_chunks),
)  # fmt: skip
