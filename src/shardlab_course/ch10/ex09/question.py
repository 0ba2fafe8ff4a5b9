"""Chapter 10, exercise 10.9: its declaration, and the misconceptions that it knows."""

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
    lets_through("values-alone", "It accepts a mean that is taken twice: the same values, for twice the bytes.",
                 "averaged-again", "own-rows", hint=1),
    lets_through("bytes-alone", "It accepts gradients that nothing averaged, which cost nothing. Look at `error`.",
                 "own-rows", "averaged-again", hint=1),
    lets_through("place-forgotten", "It accepts a gradient that is left in pieces: compare `shard` with `shape`.",
                 "left-cut", "averaged-again", "own-rows"),
    lets_through("place-forgotten", "It accepts a program that leaves the second gradient in pieces. Both outputs "
                 "must be whole.",
                 "bias-left-cut", "left-cut", "averaged-again", "own-rows"),
    limit_too_small("averaged"),
    limit_refused("averaged", "left-cut", "own-rows"),
    less_refused("averaged", "row-by-row"),
    one_size("averaged"),
    counts("averaged", "row-by-row", "in-one"),
    lets_through("rounds-forgotten",
                 "A collective in a loop is in the list once and runs `times` times. `price` counts all of these.",
                 "each-microbatch", "averaged-again", "own-rows"),
    price_unknown("until-settled", "some-again", "averaged-again", "own-rows"),
    lets_through("limit-too-wide", "It accepts a program that sends more than one all-reduce of both gradients. No right "
                 "program sends more bytes than one does, so the limit needs no margin.",
                 "some-again", "averaged-again", "own-rows"),
    lets_through("error-too-wide", "It accepts means that were taken in bfloat16, which are right to two or three digits. "
                 "Rounding of float32 stays below the exercise's limit.",
                 "narrow", "own-rows"),
)  # fmt: skip

QUESTION = Question(
    "10.9", "A guard for gradients", difficulty=3, minutes=25, optional=True,
    items=(
        GuardItem("gradients_hold", {"V": 3, "S": 2, "H": 3}, misconceptions=GUARD,
                  kept=pathlib.Path(__file__).with_name("guarded.json")),
    ),
    hints=(
        "Gradients have the shapes of the weights. What has to be sent for them, and how often, however many microbatches "
        "there are?",
        "One all-reduce of all gradients: twice the bytes of the weights, which are the first two inputs. Both outputs "
        "must be whole on every device.",
        "allowed = 2 * 4 * sum(math.prod(w['shape']) for w in facts['inputs'][:2]); error < 1e-4; all(out['shard'] == "
        "out['shape'] for out in facts['outputs']); and price at most allowed.",
    ),
    explanation="If nothing adds a gradient up, each device has the gradient of its own data. Training continues, and the "
                "copies of the weights drift apart. A gradient that was added and not averaged is too large by the number "
                "of devices. Values show both. Bytes do not show the second. They show the first only as too few bytes "
                "sent, and no upper limit rejects that.\n\nValues cannot show a mean that was taken twice, one mean for "
                "each microbatch, a gather of all gradients, or a whole batch that was sent to every device. These programs "
                "are right, and they move two to forty-three times the bytes here. Data parallelism needs one all-reduce of "
                "the weights' bytes, in as many pieces as a compiler likes.",
)  # fmt: skip
