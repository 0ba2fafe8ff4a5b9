"""Chapter 4, exercise 4.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import pathlib

from shardlab_course.shared.guarded import counts, lets_through, one_size
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.question import Question

GUARD = (
    lets_through("values-alone", "It lets right values through that cost many times the bytes: what may be sent follows "
    "from the output.",
                 "gathered", "unsummed", hint=1),
    lets_through("bytes-alone", "It looks at what is sent, and a program that adds nothing up sends nothing: see `error`.",
                 "unsummed", "gathered", hint=1),
    lets_through("place-forgotten", "It lets a program through whose output is left in pieces: `shard` is not `shape`.",
                 "left-cut", "gathered", "unsummed"),
    one_size("summed"),
    counts("summed", "halves", "in-two-steps", "in-a-loop"),
    lets_through("rounds-forgotten",
                 "A collective in a loop stands once in the list and runs `times` times; `price` counts them all.",
                 "each-round", "gathered", "unsummed"),
)  # fmt: skip

QUESTION = Question(
    "4.7", "A guard for a product", difficulty=3, minutes=25, optional=True,
    items=(
        GuardItem("product_holds", {"G": 2}, kept=pathlib.Path(__file__).with_name("guarded.json"), misconceptions=GUARD),
    ),
    hints=(
        "Three things can go wrong: the values, where the output lies, and what was sent. Which facts tell of each?",
        "What may be sent follows from the output: an all-reduce counts twice its bytes, and a number of float32 has four. "
        "`price` is already added up over all collectives and their rounds.",
        "out = facts['outputs'][0]; return facts['error'] < 1e-5 and out['shard'] == out['shape'] and facts['price'] is not "
        "None and facts['price'] <= 2 * 4 * math.prod(out['shape']).",
    ),
    explanation="Each fact alone can be had by a wrong program: right values for many times the bytes, few bytes for "
                "values that nobody added up, or both with the output left in pieces. Together they say what the "
                "product promises. What they leave open is as important: two all-reduces of half the output, a loop of "
                "four small ones, or a reduce-scatter and an all-gather cost the same, and XLA for CPU and for v5e "
                "choose differently. A guard that counts collectives breaks with the next version of a compiler, and "
                "nobody trusts it after that. What may be sent is computed from shapes, so that the guard holds on "
                "meshes that it has never seen.",
)  # fmt: skip
