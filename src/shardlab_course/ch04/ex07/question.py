"""Chapter 4, exercise 4.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import pathlib

from shardlab_course.shared.guarded import (
    counts,
    less_refused,
    lets_through,
    limit_refused,
    limit_too_small,
    one_size,
    price_unknown,
)
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.question import Question

GUARD = (
    lets_through("values-alone", "It accepts right values that cost many times the bytes. What may be sent follows from the "
                 "output.",
                 "gathered", "unsummed", hint=1),
    lets_through("bytes-alone", "It accepts a program that adds nothing up, and sends little or nothing: see `error`.",
                 "unsummed", "gathered", hint=1),
    lets_through("place-forgotten", "It accepts a program that leaves its output in pieces. There `shard` is not `shape`.",
                 "left-cut", "gathered", "unsummed"),
    lets_through("place-forgotten", "It accepts a program that leaves its output cut by columns. Compare all of `shard` "
                 "with `shape`, not one dimension.",
                 "columns-left-cut", "left-cut", "gathered", "unsummed"),
    limit_too_small("summed"),
    limit_refused("summed", "left-cut", "unsummed"),
    less_refused("summed", "in-a-loop", "halves"),
    one_size("summed"),
    counts("summed", "halves", "in-two-steps", "in-a-loop"),
    lets_through("rounds-forgotten",
                 "It accepts a program that sums the whole output in every round of a loop. Perhaps it counts one round: a "
                 "collective in a loop is listed once and runs `times` times. `price` counts all of them.",
                 "each-round", "gathered", "unsummed", "terms-gathered"),
    price_unknown("until-settled", "another-besides", "gathered", "unsummed"),
    lets_through("limit-too-wide", "It accepts a program that sends more than one all-reduce of the output, twice its "
                 "bytes. No right program sends more bytes than one does, so the limit needs no margin.",
                 "another-besides", "twice", "unsummed"),
    lets_through("error-too-wide", "It accepts sums that were taken in bfloat16, which are right to two or three digits. "
                 "Rounding of float32 stays below the exercise's limit.",
                 "narrow", "unsummed"),
)  # fmt: skip

QUESTION = Question(
    "4.7", "A guard for a product", difficulty=3, minutes=25, optional=True,
    items=(
        GuardItem("product_holds", {"V": 2, "S": 2, "H": 3}, misconceptions=GUARD,
                  kept=pathlib.Path(__file__).with_name("guarded.json")),
    ),
    hints=(
        "Three things can go wrong: the values, where the output lies, and what was sent. Which facts show each of them?",
        "What may be sent follows from the output. An all-reduce counts its bytes twice, and a float32 number has four. "
        "`price` already adds up all collectives and their rounds.",
        "out = facts['outputs'][0]; return facts['error'] < 1e-5 and out['shard'] == out['shape'] and facts['price'] is not "
        "None and facts['price'] <= 2 * 4 * math.prod(out['shape']).",
    ),
    explanation="A wrong program can pass a test of any one fact. It may send many times the bytes for right values, or few "
                "bytes because it adds nothing up. Both may leave the output in pieces. Together the facts say what the "
                "product promises. What they leave open is as important. Two all-reduces of half the output, a loop of four "
                "small ones, or a reduce-scatter and an all-gather cost the same, and XLA for CPU and for v5e choose "
                "differently. A guard that counts collectives may fail with the next version of a compiler, and then nobody "
                "trusts it. What may be sent is computed from shapes, so the guard holds on meshes that it has never seen.",
)  # fmt: skip
