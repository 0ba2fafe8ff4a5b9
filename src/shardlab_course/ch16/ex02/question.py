"""Chapter 16, exercise 16.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex02 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

HELD = (
    WrongValues("whole-on-each", "This is the whole cache. A device holds its part of it.", 1, like=of.whole),
    WrongValues(
        "average-device", "This is the cache divided by the number of devices. Heads, sequences and positions are dealt out "
        "whole, so some device holds more than the average.", 2, like=of.average),
    WrongValues(
        "rounded-down", "What is left over after an even deal also lies on a device: round up.", 2,
        like=of.held_with(up=False)),
    WrongValues(
        "heads-cut-inside", "With fewer key heads than devices each device still needs one whole key head. The devices hold "
        "copies.", 1, like=of.held_with(inside=True)),
    WrongValues(
        "devices-without-heads", "With fewer key heads than devices, a device without a key head would have query heads and "
        "nothing to read. Each device holds at least one.", 1, like=of.held_with(idle=True)),
    WrongValues(
        "same-in-each-cut", "This deals out the same thing in every cut. `cut` says what to deal out.", 1,
        like=of.held_with(always="sequence")),
)  # fmt: skip
LARGEST = (
    WrongValues("weights-whole", "The weights are cut over the devices too, so each holds a part of them.", 3,
                like=of.largest_with(weights_cut=False)),
    WrongValues("weights-forgotten", "The weights take memory too, and only the rest is free for caches.", 3,
                like=of.largest_with(weights_there=False)),
    WrongValues(
        "memories-pooled", "This treats all memories as one. What a device has left over helps no other device.", 3,
        like=of.pooled),
    WrongValues(
        "batch-of-one-device", "If the cache is cut by batch, this is the number of sequences on one device. Every device "
                               "has that many.", 3,
        like=of.largest_with(on_all=False)),
    WrongValues(
        "less-than-none", "If the weights alone do not fit, no sequence does, and the answer is 0.", 3,
        like=of.largest_with(least=None)),
    WrongValues(
        "full-memory-refused", "Where caches and weights fill the memory exactly, they fit: compare with <=.", 3,
        like=of.largest_with(spare=1)),
)  # fmt: skip

QUESTION = Question(
    "16.2", "How many sequences fit?", difficulty=3, minutes=35,
    items=(
        CallsItem("held", {"C": 5}, oracle=of.held, draw=of.draw_held, misconceptions=HELD,
                  calls=(("heads", 16, 8192, 32, 8, 128, 8), ("heads", 16, 8192, 32, 2, 128, 8),
                         ("heads", 16, 8192, 32, 6, 128, 4), ("batch", 16, 8192, 32, 8, 128, 8),
                         ("batch", 3, 8192, 32, 8, 128, 8), ("sequence", 16, 8192, 32, 2, 128, 8),
                         ("sequence", 16, 1001, 32, 2, 128, 8))),
        CallsItem("largest_batch", {"C": 5.5}, oracle=of.largest_batch, draw=of.draw_largest, misconceptions=LARGEST,
                  calls=tuple((cut, 16_000_000_000, 16_000_000_000, length, 32, kv_heads, 128, 8)
                              for cut in of.CUTS for length, kv_heads in ((8192, 8), (8192, 2), (100_000, 8)))
                  + (("batch", 16_000_000_000, 140_000_000_000, 8192, 80, 8, 128, 8),
                     ("heads", 15_421_772_800, 16_000_000_000, 8192, 32, 8, 128, 8))),
    ),
    hints=(
        "What is dealt out whole in each cut: key heads, sequences or positions? How many of them does the fullest device "
        "get?",
        "The fullest device gets the number divided by the devices, rounded up. Of key heads it gets at least one.",
        "largest_batch: subtract a device's part of the weights from its memory, and divide what is left by `held` of one "
        "sequence, rounded down. If the cache is cut by batch, each device has room for that many.",
    ),
    explanation="If the cache is cut by heads, a device cannot hold less than one key head. With fewer key heads than "
                "devices, further devices only add copies. If it is cut by sequence, there is no such limit, because a "
                "cache has many more positions than a slice has devices. If it is cut by batch, a sequence is never "
                "divided. So the cache of a single long sequence must fit on one device, and devices without a sequence are "
                "idle during attention.\n\nThe ledger decides what is possible before bytes decide what is fast. It omits "
                "what a step needs temporarily: here that is small, because a step has one row for each sequence. A server "
                "also does not know the lengths in advance. It takes memory for a sequence in pages as the sequence grows, "
                "and the same ledger says how many pages there are.",
)  # fmt: skip
