"""Chapter 13, exercise 13.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch13.ex07 import oracle as of
from shardlab_course.ch13.shared import LINE, WIDE, gathers, if_right, largest, share, too_wide
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

SUBSTITUTION = (
    WrongCost(
        "gathers-the-matrix",
        "Every device receives the whole factor. Its rows should stay: only one block of a vector moves each round.",
        1, when=if_right(of.substituted, gathers)),
    WrongCost(
        "turns-the-factor",
        "The factor was transposed between the devices. Device i has L_is as it is, and can make its term of the sum, "
        "L_is transposed times x_i, by itself.", 2,
        when=if_right(of.substituted, lambda o: largest(o, "all-to-all") >= share(o.case) // 2)),
    WrongProgram(
        "left-to-the-compiler",
        "Something is left to the compiler. Perhaps slices are taken of a cut array: they are on some devices and not on "
        "others, so XLA moves pieces in each round. In shard_map you say what moves.", 2,
        when=if_right(of.substituted, lambda o: not o.manual)),
    WrongCost(
        "whole-vector-each-round",
        "At least a whole vector comes in each round, but a block is enough: the solved block on the way down, the sum for "
        "the block that is due on the way up.",
        2, when=if_right(of.substituted, of.whole_vectors)),
    WrongValues(
        "half-way", "This is y, the solution of L y = b. Perhaps the way up is missing, or changes nothing: L transposed "
        "times x is y.", 1,
        like=of.solved_down),
    WrongValues(
        "half-way", "This solves L transposed times x = b, only the way up. First solve L y = b.", 1, like=of.solved_up),
    WrongValues(
        "down-twice", "Both systems were solved with L. The second one has the transpose of L, and is solved from the "
                      "bottom up.", 1,
        like=of.down_twice),
    WrongValues(
        "diagonal-blocks-only", "Each device solved with its own diagonal block, as if there were no others.", 1,
        local=of.own_blocks),
    WrongValues(
        "own-term-summed",
        "On the way up the sum is over the devices below s. Device s added a term of its own, from its block of y.", 3,
        when=of.own_term_summed),
)  # fmt: skip

QUESTION = Question(
    "13.7", "Down and up again", difficulty=4, minutes=50, optional=True,
    items=(
        ProgramItem("substitute", {"V": 5, "S": 2.5, "H": 5, "M": 2.5}, oracle=of.substituted, names=of.steps,
                    misconceptions=SUBSTITUTION, checks=(Check("M", too_wide),), rtol=1e-4, atol=1e-4,
                    tolerance="float32 substitution with a well-conditioned factor",
                    cases=(of.factored(LINE, 32), of.factored(WIDE, 24)), draw=of.draw_factored),
    ),
    hints=(
        "Take the two sums of the page. Which devices can compute the terms of each?",
        "Down: device s solves, its block goes to all, and devices below subtract their "
        "terms. Up: devices below make terms, "
        "their sum goes to device s, which solves.",
        "Down: y = psum(y if me == s else 0), below b -= column @ y. Up: x - psum(column.T @ x if me > s else 0), solved "
        "if me == s. column = L[:, s k:][:, :k].",
    ),
    explanation="The factor is cut in one way and used in both directions, and both directions move the same: one block of "
                "a vector in each round. That is n numbers on the way down and n on the way up, while the factor has n². On "
                "the way down a device computes a whole sum but lacks its operands, so they are sent out. On the way up it "
                "has the operands but not the whole sum, so terms are sent in.\n\nIt is the same pair as in tensor "
                "parallelism: rows and columns of one matrix are transposes of each other, and so are a broadcast and a "
                "sum. The order is not parallel here: each round waits for the one before, and while device s solves, the "
                "others wait. With many right-hand sides at once the number of rounds stays the same, and each round has "
                "more to do.",
)  # fmt: skip
