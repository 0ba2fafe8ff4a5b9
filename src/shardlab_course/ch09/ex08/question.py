"""Chapter 9, exercise 9.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import pathlib

from shardlab_course.shared.guarded import (
    counts,
    less_refused,
    lets_through,
    limit_refused,
    limit_too_small,
    one_dtype,
    one_size,
    price_unknown,
)
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.question import Question

GUARD = (
    lets_through("values-alone", "It accepts a program that gathers weights: the same values, for many times the bytes.",
                 "weights-gathered", "last-unsummed", hint=1),
    lets_through("bytes-alone", "It accepts a last layer whose terms nobody added up, which sends nothing. See `error`.",
                 "last-unsummed", "weights-gathered", hint=1),
    lets_through("place-forgotten", "It accepts a program whose output is left in pieces: `shard` is not `shape`.",
                 "left-cut", "weights-gathered", "last-unsummed"),
    limit_too_small("unrolled"),
    limit_refused("unrolled", "left-cut", "last-unsummed"),
    less_refused("unrolled", "scanned"),
    one_dtype("float32", "bfloat16"),
    one_size("unrolled"),
    counts("unrolled", "rows-apart", "scanned"),
    lets_through("dtype-forgotten", "It accepts twice the bytes of one all-reduce for each layer. Perhaps `price` has no "
        "limit, or the factor is too large, or it counts four bytes for each number where the activations have two (read "
        "`dtype`).",
                 "doubled", "weights-gathered", "last-unsummed"),
    price_unknown("until-settled", "some-again", "weights-gathered", "last-unsummed"),
    lets_through("limit-too-wide", "It accepts a program that sends more than one all-reduce of the activations for each "
        "layer. No right program sends more bytes, so the limit needs no margin.",
                 "some-again", "doubled", "weights-gathered", "last-unsummed"),
    lets_through("error-too-wide", "It accepts a stack in which each device forgets a hidden unit. Such an error is many "
        "times larger than that of rounding in bfloat16.",
                 "unit-lost", "last-unsummed"),
)  # fmt: skip

QUESTION = Question(
    "9.8", "A guard for a stack of layers", difficulty=3, minutes=25, optional=True,
    items=(
        GuardItem("stack_holds", {"V": 3, "S": 1, "H": 4}, misconceptions=GUARD,
                  kept=pathlib.Path(__file__).with_name("guarded.json")),
    ),
    hints=(
        "Each layer needs one sum of the activations. How many bytes does that sum have, and where do you read the number "
        "of layers and the dtype?",
        "The weights have the layers as their first dimension. A sum is an all-reduce of the activations' shape, in their "
        "dtype. Its price is twice its bytes.",
        "x, first, _ = facts['inputs']; allowed = 2 * first['shape'][0] * math.prod(x['shape']) * size, with size 2 for "
        "bfloat16 and 4 for float32. Then check the values, and that the output is whole.",
    ),
    explanation="Tensor parallelism promises one all-reduce of the activations for each layer, and weights that stay where "
                "they are. In bytes this is twice the number of layers times T D times the size of a number. That limit "
                "catches gathered weights (while there are fewer tokens than hidden units), gathered hidden activations, "
                "and a second average that changes no value.\n\nThe limit depends on the dtype: a guard that allows four "
                "bytes where the activations have two lets every sum be sent twice. XLA for CPU widens bfloat16 sums to "
                "float32 by itself, and XLA for v5e does not. So a guard for chips is checked with programs that were "
                "compiled for chips. The collective of a scan is written once, and it runs once for each layer. `price` "
                "counts these rounds, and your guard must count them too.",
)  # fmt: skip
