"""Chapter 9, exercise 9.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex05 import oracle as of
from shardlab_course.ch09.shared import COLUMNS, LINE, MESHES, TALL, WIDE
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Check, Question, WrongProgram, WrongValues

PATTERNS = (
    WrongValues(
        "devices-draw-for-themselves", "A key is a value, not a state: the same key and the same shape give the same mask "
        "on every device.", 1, like=8),
)  # fmt: skip
DROPPED = (
    WrongValues(
        "copies-differ", "Devices that should hold copies of one slice have different values. Perhaps they dropped "
        "different elements: fold in only axes that cut the array.", 2, when=of.copies_differ),
    WrongProgram(
        "promise-not-proved", "out_specs promises equal copies along an axis along which the mask or the block varies. "
        "Fold in only axes that cut the array, and name these axes in out_specs.", 2, error="can't be statically inferred"),
    WrongValues(
        "nothing-drawn", "Some slice keeps everything, or drops everything. Perhaps nothing was drawn there, or with a "
        "probability of 0 or 1.", 1,
        when=of.undrawn),
    WrongValues(
        "kept-what-was-to-drop", "About a quarter is kept, and KEEP is the share that stays. Perhaps bernoulli got the "
        "share to drop, or what is to stay was dropped.", 1, when=lambda o: of.kept_share(o, 1 - of.KEEP)),
    WrongValues(
        "one-mask-for-each-line", "In some slice all rows, or all columns, drop the same places. Perhaps the mask has one "
        "row or one column, which broadcasting repeats. Draw as many numbers as the block has elements.", 1,
        when=of.lines_alike),
    WrongValues(
        "mask-is-a-pattern", "The mask of some slice, shifted by some rows and columns, agrees with itself, with another "
        "slice's mask or with another seed's mask more often than random numbers would. Perhaps it was counted, shifted or "
        "repeated.", 2, when=of.counted),
    WrongValues(
        "same-mask-everywhere", "Several slices have the same mask: their devices use the same key, or the same part of a "
        "mask.", 1,
        when=of.repeats),
    WrongValues(
        "seed-not-used", "Another seed gives the same mask, so every training step would drop the same elements.", 2,
        when=of.same_for_another_seed),
    WrongValues(
        "seed-plus-place", "A slice has the mask that another slice has for another seed. Perhaps the key is made from the "
        "seed plus the device's place. Make it from the seed, and fold the place in.", 2,
        when=of.elsewhere_for_another_seed),
    WrongValues(
        "other-share-kept", "The share of elements that stay is not KEEP. Give bernoulli KEEP, and divide what stays by "
        "KEEP, so that its mean does not change.", 1, when=of.other_share),
    WrongValues(
        "not-scaled", "What stays must be divided by KEEP, the share that stays. Then its mean does not change.", 1,
        when=of.scaled_otherwise),
)  # fmt: skip

MECHANISM = why(
    "Where do the numbers come from?",
    a=Believed(
        "From a state that each device keeps for itself, and that the key initializes.",
        "own-state",
        "Then the masks would differ, but all devices had the same one. A key has no state.",
    ),
    b=Believed(
        "From a part of the key: `shard_map` cuts it, as it cuts the arguments.",
        "key-is-cut",
        "The key is made inside the body, where nothing is cut any more, and all devices had the same mask.",
    ),
    c="From the arguments of the call: the key, the shape and the probability. None of them depends on the device.",
)

FREE = {"V": 2, "S": 1, "H": 1}
GRIDS = (WIDE, TALL)

QUESTION = Question(
    "9.5", "One key, many masks", difficulty=3, minutes=30,
    items=(
        ValueItem("patterns", {"P": 0.5}, predicted=True, key=1, misconceptions=PATTERNS),
        MECHANISM,
        ProgramItem("drop_hidden", FREE, checks=(Check("V", of.not_dropped),), misconceptions=DROPPED,
                    cases=(of.dropout_case(LINE, COLUMNS), of.dropout_case(TALL, COLUMNS)),
                    draw=lambda rng: of.dropout_case(rng.choice(MESHES), COLUMNS)),
        ProgramItem("drop_output", FREE, checks=(Check("V", of.not_dropped),), misconceptions=DROPPED,
                    cases=(of.dropout_case(WIDE, of.TOKENS), of.dropout_case(TALL, of.TOKENS)),
                    draw=lambda rng: of.dropout_case(rng.choice(GRIDS), of.TOKENS)),
    ),
    hints=(
        "Which devices hold different slices of the array, and which hold copies of one slice?",
        "Slices need different keys, copies need the same key. jax.random.fold_in(key, number) makes another key for each "
        "number.",
        "Inside shard_map, fold in jax.lax.axis_index of the axis that cuts the array: 'model' for the hidden layer, "
        "'data' for the output. Fold in no other axis.",
    ),
    explanation="A JAX key is a value. The same key with the same block shape gives the same mask on every device, so the "
                "masks of different hidden units would not be independent: each device drops the same places of its "
                "slice. Fold in the index along the axis that cuts.\n\nThe opposite mistake is worse. Where devices hold "
                "copies along an axis, different masks make the copies differ, and from then on the devices no longer "
                "compute the same thing. JAX's types detect this: a mask from axis_index('model') varies over `model`, "
                "and JAX rejects out_specs without `model`. Another right answer draws one mask for the whole array "
                "outside shard_map, under jit. Then XLA, for CPU and for TPU, lets each device make its own part of the "
                "mask.",
)  # fmt: skip
