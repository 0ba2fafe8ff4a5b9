"""Chapter 11, exercise 11.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex06 import oracle as of
from shardlab_course.ch11.shared import LINE, PLANE
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

DONATION = (
    WrongValues(
        "one-step-behind", "`steps` steps are done, so this is the next one: both corrections use steps + 1.", 1,
        like=of.adam_otherwise(behind=1)),
    WrongValues(
        "one-step-ahead", "`steps` counts the steps that are done, and this is one more: both corrections use steps + 1.", 1,
        like=of.adam_otherwise(behind=-1)),
    WrongValues(
        "means-not-corrected", "m and v begin as zeros, so their first values are too small. Divide them by 1 - 0.9**t "
        "and 1 - 0.999**t.", 1, like=of.adam_otherwise(behind=-10**6)),
    WrongValues(
        "small-number-forgotten", "Where gradients are small, the number added to the root, 1e-4, decides how far a "
        "weight moves.", 1, like=of.adam_otherwise(tiny=0.0)),
    WrongProgram(
        "mesh-not-static", "jax.jit treats the mesh as an array. It is argument number 0, and it must be static.",
        2, error="(Mesh.*not a valid JAX type|type.*Mesh)"),
    WrongCost(
        "shifted-by-one",
        "m, v and the gradient are given away, and the weights are not. Positions count the mesh if it is an argument of "
        "the function that is jitted, and not if partial or a closure holds it.",
        2, when=lambda o: o.donated == frozenset({1, 2, 3})),
    WrongCost(
        "gradient-donated",
        "The gradient, or the count, is donated. An output of the same size may take its memory, because matching "
        "ignores meaning. But the function returns no successor of it.",
        3, when=lambda o: bool(o.donated - {0, 1, 2})),
    WrongCost(
        "nothing-donated",
        "Old and new weights and state exist at the same time: the outermost function does not say that the old ones are "
        "not needed any more.",
        1, when=lambda o: not o.donated),
    WrongCost(
        "state-not-donated", "The weights are given away. m and v are replaced as well, and together they are twice as "
        "large.",
        1, when=lambda o: o.donated == frozenset({0})),
    WrongCost(
        "weights-not-donated", "m and v are given away, but the old weights stay in memory with the new ones.",
        1, when=lambda o: o.donated == frozenset({1, 2})),
    WrongCost(
        "not-all-donated", "The weights, m and v are all replaced, but not all three are given away.",
        1, when=lambda o: o.donated < frozenset({0, 1, 2})),
)  # fmt: skip

QUESTION = Question(
    "11.6", "Give the old weights away", difficulty=2, minutes=20, optional=True,
    items=(
        ProgramItem("step", {"V": 1.25, "S": 1.25, "M": 3.5}, oracle=of.adam, misconceptions=DONATION,
                    cases=(of.stepping(LINE, 24, 5), of.stepping(PLANE, 32, 7)), draw=of.draw_stepping,
                    tolerance="float32 powers and roots", rtol=1e-4, checks=(Check("M", of.other_donations),)),
    ),
    hints=(
        "Which arguments does the caller never look at again, because the function returns their successors?",
        "jax.jit has donate_argnums. Positions are those of the function's arguments, and the mesh counts. The mesh "
        "itself is static.",
        "jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3)).",
    ),
    explanation="A function cannot know that its caller will not look at an argument again. So unless you say so, new "
                "weights and state are written beside the old ones, and for a moment they take 24 bytes for each parameter "
                "instead of 12. You say so with donate_argnums: XLA may write an output into the memory of a donated "
                "argument of the same size, and memory_analysis counts those bytes as alias. The old arrays are deleted, "
                "and reading one raises an exception.\n\nDonated arrays are matched to outputs by shape and dtype, or by "
                "size, not by meaning. A gradient given away alone holds a new weight afterwards. If it is given away "
                "together with the weight and its state, it is left over here, without a warning. So give away only what "
                "you mean to. A jit inside another one donates nothing, because only the outermost one talks to the caller.",
)  # fmt: skip
