"""Chapter 6, exercise 6.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex06 import oracle as of
from shardlab_course.ch06.shared import AMBIGUOUS, LINE, WIDE, program, weight_gathered
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

GATHERS_WEIGHTS = WrongCost(
    "gathers-the-weights", "The weights were brought to every device, although only one number per unit has to be added.",
    2, when=weight_gathered)  # fmt: skip
MOVES = WrongProgram(
    "moves-by-hand", "This layer is written with jax.shard_map, as only the third one should be. Write it as for one "
    "device; on Explicit axes the product also says where its sum lies.", 1,
    when=lambda o: o.written is not None and o.written.regions, barred=True)  # fmt: skip
AUTO = (GATHERS_WEIGHTS, MOVES)
EXPLICIT = (AMBIGUOUS, GATHERS_WEIGHTS, MOVES)
MANUAL = (
    WrongProgram(
        "left-to-the-compiler", "Write this one with jax.shard_map, and add over devices inside it.",
        1, when=lambda o: not o.manual),
    WrongValues(
        "terms-returned", "Each device took its own term for the sum. Add the terms over x, before bias and sigmoid.",
        2, local=of.local_layer),
    WrongProgram(
        "promise-not-proved",
        "out_specs promises equal copies over an axis over which the type still varies. A sum over x takes axis x out of "
        "the type. Nothing here has to depend on a device's place along y.",
        2, error="can't be statically inferred"),
    WrongValues(
        "mean-for-sum",
        "The sum came out divided by the number of devices along x, as pmean does. psum adds the terms.",
        3, when=of.mean_of_terms),
    WrongValues(
        "bias-added-n-times",
        "The sum has the bias once for each device along x. Perhaps every term has it.", 3, when=of.bias_each_time),
    WrongValues(
        "curved-before-the-sum",
        "The sigmoid of a sum is not the sum of sigmoids: add the terms first.", 3, when=of.curved_terms),
    GATHERS_WEIGHTS,
)  # fmt: skip

QUESTION = Question(
    "6.6", "One layer, three styles", difficulty=3, minutes=35, optional=True,
    items=(
        program("auto_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=False), ((32, 24), (48, 16)),
                AUTO, (WIDE, LINE)),
        program("explicit_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=True), ((32, 24), (48, 16)),
                EXPLICIT, (WIDE, LINE)),
        program("manual_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=True), ((32, 24), (48, 16)),
                MANUAL, (WIDE, LINE), manual=True),
    ),
    hints=(
        "Write the layer for one device first. Two of the three styles need very little change.",
        "Explicit: the product asks where its sum should lie. Manual: each device has a piece of x and the same rows of "
        "W, and makes one term.",
        "Manual: psum(x @ W, 'x'), then add the bias, then the sigmoid, with in_specs P('x'), P('x', None), P() and "
        "out_specs P().",
    ),
    explanation="All three compile to the same all-reduce of one number per unit, so for the machine they are one program. "
                "For you they differ. Auto is the program for one device: you say outside where x and W lie, and find out "
                "afterwards what moves. Explicit is the same line with the one decision in it. Manual says everything: "
                "pieces come in, each device makes a term, the terms are added, then come bias and sigmoid.\n\nEach style "
                "has its own mistakes. A placement cannot make Auto wrong; it can only change the cost. Explicit refuses "
                "what its rules do not decide. Manual trusts your order. With the bias inside the sum it is added once for "
                "each device along x, and a sigmoid before the sum is another function. Neither mistake raises an error.",
)  # fmt: skip
