"""Chapter 12's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from shardlab_course.ch12 import oracles as of
from shardlab_course.ch12 import pipeline, timetable
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

READY_MADE = Misconception(
    "uses-a-finished-collective",
    "A finished collective is one step: it waits for all that it takes, and what needs it waits for all "
    "that it gives. Here chunks move by ppermute alone.", 1,
    when=lambda o: bool(o.kinds - {"collective-permute"}), barred=True)  # fmt: skip
LEAPS = Misconception(
    "leaps-over-neighbours",
    "A permute sends further than to the next device: on a real ring such a message crosses every link on its way.",
    1, when=rings.leaps, barred=True)  # fmt: skip
OPEN = Misconception(
    "ring-is-open", "The permutation does not go round all devices: some device gets zeros, and passes them on.", 1,
    when=lambda o: rings.is_open(o) and not rings.leaps(o), breaks=True)  # fmt: skip
CARRY = Misconception(
    "carry-changes-type",
    "Two arrays have to be of one type, and one is equal everywhere, as fresh zeros are, while the other varies over x. "
    "Often it is what a loop starts from: start from a product, or pcast to varying.", 2, error="manual axis types do not "
    "match")  # fmt: skip
APART = ("Some hop has less than a chunk's product beside it: the products wait for this hop, or the hop waits for "
         "them.")  # fmt: skip
NOTHING_BESIDE = Misconception(
    "moves-first-then-multiplies", APART, 1, barred=True,
    when=lambda o: of.bare(o, 0.99 * of.hop_flops(o)) and of.right(o, of.product))  # fmt: skip
LATE = Misconception(
    "most-waits-for-the-last-hop", "Every hop has arithmetic beside it; but more than half of all "
    "arithmetic waits for the last hop. Multiply each chunk as it comes.", 1, barred=True,
    when=lambda o: of.right(o, of.product) and of.waiting(o, of.products(o)) > 0.5)  # fmt: skip
EARLY = Misconception(
    "most-before-the-first-hop", "Every hop has arithmetic beside it; but more than half of all "
    "arithmetic is over before the first hop. Make each chunk when it is due.", 1, barred=True,
    when=lambda o: of.right(o, of.product) and of.waited_for(o, of.products(o)) > 0.5)  # fmt: skip
IDLE = Misconception(
    "no-exchange", "Nothing moves between devices, and each has only a part of what it needs.", 1,
    when=lambda o: not o.collectives and bool(o.shards[0][0][2].size), breaks=True)  # fmt: skip
ONE_MORE = Misconception(
    "one-hop-too-many", "n - 1 hops bring every chunk everywhere; one hop more brings one that has been there.", 2,
    when=lambda o: rings.hops(o) == rings.devices(o) and rings.needless(o))  # fmt: skip
WAYS = (LEFT, READY_MADE, LEAPS, OPEN, CARRY)
INDICES = (
    Misconception(
        "chunk-index-local", "Rows of W were taken in the order 0, 1, 2, ... on every device. Which chunk is at hand "
        "after i hops depends on axis_index too.", 2, when=of.local_index),
    Misconception(
        "counts-the-wrong-way", "The rows of W are counted against the direction in which chunks travel: with a ring that "
        "sends to d - 1, device d holds chunk d + i after i hops.", 2, when=of.wrong_way),
    Misconception(
        "rows-one-off", "Each chunk met the rows that go with a neighbouring one: what is at hand is a hop further, or "
        "a hop less far, than the count of rows says.", 2, when=of.lagging),
    Misconception(
        "no-modulo", "d + i goes past n - 1, and dynamic_slice takes the last rows then, without a word: count modulo n.",
        2, when=of.clamped),
    Misconception(
        "same-rows-each-round", "Every chunk met the rows that go with the device's own chunk; they change from hop to "
                                "hop.",
        2, when=of.same_rows),
    Misconception(
        "own-chunk-only", "Each device multiplied its own chunk and stopped: the sum over the contracted dimension lacks "
        "all others.", 1, when=of.own_only),
    Misconception(
        "one-chunk-only", "The result has the product of one chunk, not the sum over all: add to the total, and do not "
        "replace it.", 1, when=of.one_only),
    Misconception(
        "chunk-counted-twice", "Every chunk's product is in the result, and one chunk's is there twice.", 2,
        when=of.one_twice),
    Misconception(
        "chunk-left-out", "One chunk's product is missing on every device: n chunks are n products and n - 1 hops.", 2,
        when=of.chunk_missing),
)  # fmt: skip
MORE = (
    Misconception(
        "weights-travel", "Blocks of W travel. Here W stays where it is: the device's own columns meet every chunk of X.",
        1, when=lambda o: rings.only_permutes(o) and of.travels(o, 1)),
    Misconception(
        "sums-travel", "Sums travel. Each device's sum is its own, and stays; only chunks of X travel.", 1,
        when=lambda o: rings.only_permutes(o) and of.output_travels(o), breaks=True),
    Misconception(
        "sends-all-it-has", "A hop carries more than one chunk; only what came last is news.", 1, when=of.many_chunks),
)  # fmt: skip
GATHER = (*WAYS, *MORE, *INDICES, ONE_MORE, NOTHING_BESIDE, LATE)
BOTH = (
    *WAYS, *MORE,
    Misconception(
        "antipode-sent-twice", "With an even n the chunk from opposite comes from both sides; it is needed once.", 3,
        when=lambda o: (n := rings.devices(o)) % 2 == 0 and o.depth == n // 2 and rings.hops(o) == n
        and rings.needless(o)),
    *INDICES, ONE_MORE, NOTHING_BESIDE, LATE,
    Misconception(
        "still-one-way", "All chunks still go one way round: n - 1 hops, each of which waits for the one before.", 3,
        when=lambda o: rings.only_permutes(o) and o.depth == rings.hops(o) == rings.devices(o) - 1 and rings.ways(o) == 1),
    Misconception(
        "halves-all-the-way", "Half a chunk goes each way, but all the way round. Whole chunks need to go half round only.",
        3, when=lambda o: of.all_round_twice(o) and rings.largest(o) < of.block_bytes(o, 0)),
    Misconception(
        "all-round-both-ways", "Chunks go all the way round in both directions, so each comes twice. Half round is enough.",
        3, when=lambda o: of.all_round_twice(o) and rings.largest(o) == of.block_bytes(o, 0)),
)  # fmt: skip

SCATTER = (
    *WAYS,
    Misconception(
        "permutes-inputs", "Blocks of X or W travel, and sums stay. Here a sum of one chunk is smaller than what goes into "
        "it, so let sums travel.", 1, when=of.inputs_travel),
    Misconception(
        "whole-sums-travel", "A hop carries sums, or terms, of all chunks. Each device ends with one of them, so one is "
                             "enough.", 1,
        when=lambda o: rings.only_permutes(o) and rings.largest(o) >= of.product(*o.inputs).nbytes),
    Misconception(
        "one-hop-too-many", "n terms are n - 1 hops. Of n hops the last moves a whole sum on, or the first carries "
        "zeros.", 2,
        when=lambda o: rings.hops(o) == rings.devices(o) and rings.only_permutes(o) and rings.ways(o) == 1
        and of.right(o, of.product)),
    NOTHING_BESIDE, EARLY, IDLE,
    Misconception(
        "sum-ends-next-door", "Each sum is whole, and lies one device beside its own: begin one chunk earlier, or "
                              "later.",
        2, when=lambda o: of.next_door(o, of.product(*o.inputs))),
    Misconception(
        "same-chunk-everywhere", "Different chunks meet in one sum: which chunk is due depends on axis_index, and on the "
        "way that sums travel.", 2, when=of.mixed),
    Misconception(
        "term-counted-twice", "Some sum has a device's term twice: n terms are n - 1 additions.", 2,
        when=lambda o: of.miscounted(o, 1)),
    Misconception(
        "term-left-out", "Every sum lacks terms: after each hop the device adds its own, after the last one too.", 2,
        when=lambda o: of.miscounted(o, -1)),
)  # fmt: skip

LINES = (
    Misconception(
        "loop-count-1", "A line in a loop's body runs once a round: seven hops, seven times its bytes.", 1,
        like=lambda said: said["bytes"] in (1 / 7, 0.14, 0.143, 1 / 8, 0.125)),
    Misconception(
        "python-loops-stay", "Python's loop is over when the program is traced: each round leaves a line of its own.", 1,
        like=lambda said: said["unrolled"] == 1),
    Misconception(
        "loops-are-unrolled", "XLA for CPU keeps the loop: its body is one computation, printed once.", 1,
        like=lambda said: said["loop"] == said["unrolled"]),
    Misconception(
        "eight-hops", "n chunks are n products and n - 1 hops.", 2, like=lambda said: 8 in (said["unrolled"], said["loop"])),
    Misconception(
        "other-bytes", "Both programs send a chunk seven times, from seven lines or seven times from one.", 1,
        like=lambda said: said["bytes"] != 1),
)  # fmt: skip
LOOPED = (
    *WAYS, *MORE, *INDICES,
    Misconception(
        "no-loop-left", "More than one permute stands in the compiled program. Let fori_loop or scan make the rounds, one "
        "hop in each, and leave none of them unrolled.", 1, when=lambda o: len(o.collectives) > 1, barred=True),
    Misconception(
        "hop-under-a-condition", "There is a lax.cond, and it spares no hop: inside of one a hop counts in every round. "
        "End the loop a round earlier, and make the last product after "
        "it.", 2, when=lambda o: " conditional(" in o.hlo and rings.hops(o) >= rings.devices(o)),
    ONE_MORE, NOTHING_BESIDE, LATE,
)  # fmt: skip

FINISH = (
    Misconception(
        "blocks-until-all-is-there", "The first product needs nobody: it begins at once, and each other as soon as its own "
        "chunk has come.", 1, like=pipeline.finish_with("blocking")),
    Misconception(
        "hop-waits-for-product", "A hop passes on what came; it does not wait for the product of it.", 2,
        like=pipeline.finish_with("serial")),
    Misconception(
        "hops-all-at-once", "Chunk i comes over i hops, one after the other: each passes on what the one before "
                            "brought.", 2,
        like=pipeline.finish_with("free-wires")),
    Misconception(
        "nobody-waits", "A product cannot begin before its chunk has come.", 1, like=pipeline.finish_with("no-waiting")),
    Misconception(
        "hop-waits-for-the-round", "Hops follow one another without a gap: the next one does not wait for the product of "
        "this round.", 2, like=pipeline.finish_with("lockstep")),
    Misconception(
        "several-at-a-time", "Products are made one at a time: a chunk that has come waits until the one before is over.",
        2, like=pipeline.finish_with("no-queue")),
    Misconception(
        "starts-instead-of-ends", "These are the times at which products begin.", 1, like=pipeline.finish_with("starts")),
    Misconception(
        "own-chunk-travels", "The first chunk is the device's own, and no hop brings it.", 2,
        like=pipeline.finish_with("late")),
)  # fmt: skip
CANCEL = "The 2 FLOPs of a product and its addition cancel against the 2 bytes of a bfloat16."
MOST = (
    Misconception("half-as-many", "These are half as many as there are. " + CANCEL, 3, like=pipeline.most_with(times=0.5)),
    Misconception("twice-as-many", "These are twice as many as there are. " + CANCEL, 3, like=pipeline.most_with(times=2)),
    Misconception(
        "both-ways-is-no-faster", "With both directions a device gets twice the bytes in the same time.", 3,
        like=pipeline.most_with(ways=1)),
    Misconception(
        "both-ways-is-slower", "With both directions a hop takes half as long: more devices can be kept busy, not fewer.",
        3, like=pipeline.most_with(ways=0.5)),
    Misconception(
        "always-both-ways", "Twice the bandwidth is there only when `both` says so.", 2,
        like=pipeline.most_with(times=2, ways=1)),
    Misconception(
        "one-too-many", "With one device more the wires are slower: round down.", 3, like=pipeline.most_with(up=True)),
    Misconception(
        "rounded-to-the-nearest", "Half a device more is too many: round down.", 3, like=pipeline.most_with(nearest=True)),
    Misconception(
        "no-device-at-all", "There is at least one device, however slow the wires are.", 3,
        like=pipeline.most_with(least=0)),
)  # fmt: skip

MLP = (
    *WAYS,
    Misconception("relu-forgotten", "There is no relu between the two products.", 1, like=of.linear),
    Misconception(
        "relu-of-the-sums", "relu stands between the two products, and not behind the second.", 1, like=of.relu_last),
    Misconception(
        "own-tokens-only", "Each device put its own tokens through its own hidden units, and nothing was added up.", 1,
        when=of.own_tokens),
    Misconception(
        "arrival-order", "Tokens lie in the order in which they came, and the second half takes them for those of the "
        "chunk's number: after i hops device d holds the tokens of d + i.", 2, when=of.in_arrival_order),
    Misconception(
        "sum-ends-next-door", "Each sum is whole, and lies on another device than its tokens: begin one chunk "
        "earlier, or later.", 2, when=lambda o: of.next_door(o, of.mlp(*o.inputs))),
    Misconception(
        "tokens-mixed", "Terms of different tokens meet in one sum: the way that sums travel, and the order in which they "
        "meet the chunks, do not fit together.", 3, when=of.mixed_tokens),
    Misconception(
        "term-left-out", "Every sum lacks one device's term: a sum begins with one, and n - 1 are added to it.", 3,
        when=of.lacks_a_term),
    Misconception(
        "one-hop-too-many", "Each half has n - 1 hops; a further one carries zeros at the start, or brings home what has "
        "been everywhere.", 2,
        when=lambda o: rings.only_permutes(o) and rings.hops(o) > 2 * (rings.devices(o) - 1)),
    Misconception(
        "moves-first-then-multiplies", APART, 1, barred=True,
        when=lambda o: of.bare(o, 0.99 * of.hop_flops(o)) and of.right(o, of.mlp)),
    Misconception(
        "most-before-or-after", "Every hop has arithmetic beside it; but most of the arithmetic waits "
        "for the last hop of the tokens, or is over before the first hop of the sums.", 1, barred=True,
        when=lambda o: of.right(o, of.mlp) and of.crowded(o, of.products(o)) > 0.75),
    Misconception(
        "weights-travel", "Blocks of weights go round. Tokens do before the first product, and sums after the second.", 1,
        when=lambda o: of.travels(o, 1)),
)  # fmt: skip

BETWEEN = (
    Misconception(
        "done-ends-the-first", "Pairs overlap. A done names the start that it belongs to, in its brackets.", 1,
        like=timetable.between_with(order="first")),
    Misconception(
        "done-ends-the-last", "Pairs overlap, and are not nested. A done names the start that it belongs to.", 1,
        like=timetable.between_with(order="last")),
    Misconception(
        "every-fusion-counts", "Some fusions only add, or cut. Those of products have dot_general in their op_name.", 2,
        like=timetable.between_with(fusions=True)),
    Misconception(
        "copies-counted", "copy-start and copy-done move data inside of a chip; permutes were asked for.", 2,
        like=timetable.between_with(copies=True)),
    Misconception(
        "named-fusions-only", "A fusion of a product may have another name. What it is stands in its op_name.", 2,
        like=timetable.between_with(named=True)),
    Misconception(
        "any-line-counts", "Other lines have dot_general in their op_name too. On a TPU products are fusions.", 2,
        like=timetable.between_with(anything=True)),
    Misconception(
        "percent-in-names", "In a text % marks a name, and is no part of it.", 3,
        like=timetable.between_then(timetable.marked)),
    Misconception(
        "zeros-left-out", "A start with nothing between it and its done counts too: with 0.", 2,
        like=timetable.between_then(timetable.positive)),
    Misconception(
        "dones-as-keys", "The names of the starts were asked for, as they stand in the brackets of the dones.", 3,
        like=timetable.between_by_done),
    Misconception(
        "counts-one-too-many", "Count what stands between start and done, and no more.", 3,
        like=timetable.between_with(ends=1)),
)  # fmt: skip

RIGHT_ON = (
    Misconception("wrong-everywhere", "On one device `i` and `(d + i) % n` are the same number.", 1, like=[]),
    Misconception("right-everywhere", "Only a test that cannot see it says so.", 1, like=[*range(8)]),
    Misconception(
        "not-round-by-round", "In round i device d has chunk d + i, modulo n, and takes rows i. On which devices are these "
        "the same number in every round?", 1, like=lambda said: isinstance(said, list | tuple)),
)  # fmt: skip
PASSES = (
    Misconception(
        "ones-are-seen", "Where both factors are ones, one chunk's product is like every other's.", 2,
        like=lambda said: "a" not in said),
    Misconception(
        "only-all-ones", "It is enough that one of the two factors does not tell its chunks apart.", 2,
        like=lambda said: set(said) in ({"a"}, {"a", "b"}, {"a", "c"})),
    Misconception(
        "symmetry-seems-to-help", "Rows of X that are equal, or a symmetric W, still have different chunks along the "
        "contracted dimension.", 2, like=lambda said: bool({"d", "e"} & set(said))),
    Misconception(
        "scale-seems-to-help", "Small numbers make a small error; a test with a relative tolerance still sees it.", 2,
        like=lambda said: "f" in said),
)  # fmt: skip

LINE = (
    Misconception("ring-blamed", "The ring is as it should be: every device gets every chunk once.", 3, like="E"),
    Misconception(
        "start-blamed", "This line does the same on all devices, and has to.", 3, like=lambda said: said in ("A", "B")),
    Misconception("product-blamed", "The product is right for the two factors that it gets. Are they a pair?", 3, like="D"),
)  # fmt: skip
DECIDES = (
    Misconception(
        "python-decides",
        "Python only writes the program down. The compiler orders it anew, as far as what needs what allows it.",
        1,
        like=lambda said: said in ("a", "b"),
    ),
    Misconception(
        "await-decides",
        "Ordinary operations of JAX have nothing to wait on: whatever is traced is a value, finished or not.",
        2,
        like="c",
    ),
)
OVERLAPPED = (
    Misconception(
        "everything-everywhere", "Every device does more than its part: it makes queries, or scores, of tokens that are "
        "another's, or multiplies W with everybody's tokens.", 2,
        when=lambda o: of.right(o, of.scores) and (o.flops or 0) > 1.5 * of.least(o), barred=True),
    Misconception(
        "made-then-gathered", "A gathering waits for a product, and has none beside it. Gather the tokens as they are: "
        "they need no product.", 2, when=of.gathers_products, barred=True),
    Misconception(
        "own-part-of-the-whole", "The local product takes its tokens out of what was gathered, so it waits for the "
        "gathering, though its device had them all along.", 2, barred=True,
        when=of.after_gathering),
    Misconception(
        "local-scores-only", "Queries met their own device's tokens only: the output has too few columns.", 1,
        when=lambda o: o.placements[0].shape[1] * rings.devices(o) == o.inputs[0].shape[0]),
    Misconception(
        "transposed", "These are the transposed scores. Queries are X W with W as it is, and rows of the output belong to "
        "queries.", 2, like=of.scores_transposed),
    Misconception(
        "summed-instead-of-gathered", "An all-reduce brings tokens together as well, and moves twice the bytes of an "
        "all-gather.", 2, when=lambda o: "all-reduce" in o.kinds),
    LEFT,
)  # fmt: skip

MECHANISM = why(
    "What makes the number of lines?",
    a=Believed(
        "How often something is sent: a line is a hop.",
        "a-line-a-hop",
        "The ledger shows as many bytes for the loop, from one line: it sends as often.",
    ),
    b="What JAX traced: each round of a Python loop has left its operations, a `fori_loop` leaves its body once.",
    c=Believed(
        "XLA for CPU: it writes out loops whose length it knows.",
        "xla-writes-out",
        "It knew the length of the `fori_loop`, and the ledger shows one line that runs several times. "
        "Python wrote out the other loop.",
    ),
)
