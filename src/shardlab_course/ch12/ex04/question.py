"""Chapter 12, exercise 12.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.ex04 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

FINISH = (
    WrongValues(
        "blocks-until-all-is-there", "The first product needs no hop, so it begins at once. Each other product can begin as "
        "soon as its own chunk has come.", 1, like=of.finish_with("blocking")),
    WrongValues(
        "hop-waits-for-product", "A hop passes on the chunk that came; it does not wait for that chunk's product.", 2,
        like=of.finish_with("serial")),
    WrongValues(
        "hops-all-at-once", "Chunk i comes over i hops, one after the other: each passes on what the one before brought.", 2,
        like=of.finish_with("free-wires")),
    WrongValues(
        "nobody-waits", "A product cannot begin before its chunk has come.", 1, like=of.finish_with("no-waiting")),
    WrongValues(
        "hop-waits-for-the-round", "Hops follow one another without a gap: the next one does not wait for the product of "
        "this round.", 2, like=of.finish_with("lockstep")),
    WrongValues(
        "several-at-a-time", "Products are made one at a time: a chunk that has come waits until the product before it is "
        "over.",
        2, like=of.finish_with("no-queue")),
    WrongValues(
        "starts-instead-of-ends", "These are the times at which products begin.", 1, like=of.finish_with("starts")),
    WrongValues(
        "own-chunk-travels", "The first chunk is the device's own, and no hop brings it.", 2,
        like=of.finish_with("late")),
)  # fmt: skip
CANCEL = (
    "A product has 2 FLOPs for each multiplication and its addition, and a bfloat16 number has 2 bytes; the two "
    "factors cancel."
)
MOST = (
    WrongValues("half-as-many", "This is half of the right answer. " + CANCEL, 3, like=of.most_with(times=0.5)),
    WrongValues("twice-as-many", "This is twice the right answer. " + CANCEL, 3, like=of.most_with(times=2)),
    WrongValues(
        "both-ways-is-no-faster", "With both directions a device gets twice the bytes in the same time.", 3,
        like=of.most_with(ways=1)),
    WrongValues(
        "both-ways-is-slower", "With both directions twice as many chunks come in the same time, so more devices can be "
        "kept busy, not fewer.",
        3, like=of.most_with(ways=0.5)),
    WrongValues(
        "always-both-ways", "The bandwidth is doubled only if `both` is true.", 2,
        like=of.most_with(times=2, ways=1)),
    WrongValues(
        "one-too-many", "With one more device the wires are slower than the arithmetic: round down.",
        3, like=of.most_with(up=True)),
    WrongValues(
        "rounded-to-the-nearest", "Half a device more is too many: round down.", 3, like=of.most_with(nearest=True)),
    WrongValues(
        "no-device-at-all", "There is at least one device, however slow the wires are.", 3,
        like=of.most_with(least=0)),
)  # fmt: skip

QUESTION = Question(
    "12.4", "When does overlap stop helping?", difficulty=3, minutes=40,
    items=(
        CallsItem("finish", {"C": 7}, oracle=of.finish, draw=of.draw_schedule, rtol=1e-9,
                  misconceptions=FINISH, calls=(
            ([4.0, 4.0, 4.0, 4.0], [3.0, 3.0, 3.0]), ([2.0, 2.0, 2.0, 2.0], [5.0, 5.0, 5.0]), ([9.0, 1.0, 1.0], [2.0, 2.0]),
            ([1.0, 1.0, 8.0, 1.0], [6.0, 1.0, 1.0]), ([3.0], []), ([5.0, 2.0, 7.0, 1.0, 3.0], [1.0, 9.0, 2.0, 4.0]),
        )),
        CallsItem("most_devices", {"C": 5}, oracle=of.most_devices, draw=of.draw_chip,
                  misconceptions=MOST, calls=(
            (16384, 1.97e14, 4.5e10, False), (16384, 1.97e14, 4.5e10, True), (28672, 4.59e14, 9e10, True),
            (65536, 9.2e14, 9e10, False), (4096, 9.2e14, 9e10, False),
        )),
    ),
    hints=(
        "Two things are busy: a wire and an arithmetic unit. Keep one clock for each.",
        "Chunk i has come when hop i - 1 ends, and hops follow each other without a gap. Product i begins when the unit is "
        "free and its chunk has come.",
        "most_devices: a product takes 2 · T · D/n · F/n / flops, a hop 2 · T · D/n / bandwidth. Solve for n; T and D "
        "cancel.",
    ),
    explanation="This is a pipeline of two stations. As long as a product takes longer than a hop, every hop is hidden, and "
                "the whole takes as long as the arithmetic. If a hop takes longer, the wires set the pace, and one product "
                "is left over at the end.\n\nThe two are equal at F · W / C devices. Tokens and D cancel, because the same "
                "chunk goes over the wire and into the product. What remains is the block that the chunk is multiplied "
                "with: F / n columns, fewer with each additional device. From three devices on the gain is largest "
                "where both take equally long, (2n - 1) / n: it comes close to 2 and never reaches it.",
)  # fmt: skip
