"""Chapter 9, exercise 9.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import pathlib

from shardlab_course.shared.guarded import counts, lets_through, one_size
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.question import Question

GUARD = (
    lets_through("values-alone", "It looks at values, and gathered weights have the same values for many times the bytes.",
                 "weights-gathered", "last-unsummed", hint=1),
    lets_through("bytes-alone", "It looks at what is sent, and a layer that adds nothing up sends nothing: see `error`.",
                 "last-unsummed", "weights-gathered", hint=1),
    lets_through("place-forgotten", "It lets a program through whose output is left in pieces: `shard` is not `shape`.",
                 "left-cut", "weights-gathered", "last-unsummed"),
    one_size("unrolled"),
    counts("unrolled", "rows-apart", "scanned"),
    lets_through("dtype-forgotten", "It lets twice the bytes of one all-reduce a layer pass: `price` has no limit, the "
                 "factor is too large, or it takes four bytes for each number where the activations have two (read "
                 "`dtype`).",
                 "doubled", "weights-gathered", "last-unsummed"),
)  # fmt: skip

QUESTION = Question(
    "9.8", "A guard for a stack of layers", difficulty=3, minutes=25, optional=True,
    items=(GuardItem("stack_holds", {"G": 2}, kept=pathlib.Path(__file__).with_name("guarded.json"), misconceptions=GUARD),),
    hints=(
        "For each layer one sum of the activations is due. How many bytes has it, and where do you read the number of "
        "layers and the dtype?",
        "The weights have the layers as their first dimension. A sum is an all-reduce of the activations' shape, in their "
        "dtype: twice its bytes.",
        "x, first, _ = facts['inputs']; allowed = 2 * first['shape'][0] * math.prod(x['shape']) * size, with size 2 for "
        "bfloat16 and 4 for float32. Then values, and an output that is whole.",
    ),
    explanation="The promise of tensor parallelism is one all-reduce of the activations a layer, and weights that stay "
                "where they are. In bytes it is twice the layers times T D times the size of a number, which catches "
                "weights that are gathered (while there are fewer tokens than hidden units), gathered hidden activations, "
                "and a second average that changes no value.\n\nThe dtype belongs to it: who allows four bytes where the "
                "activations have two lets every sum be sent twice. XLA for CPU widens bfloat16 sums to float32 by itself, "
                "XLA for v5e does not, so a guard for chips is asked about what was compiled for them. A scan is one "
                "collective in the text and as many in the run as there are layers; `price` counts rounds, and so must you.",
)  # fmt: skip
