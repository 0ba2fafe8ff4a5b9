"""Chapter 16, exercise 16.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex05 import oracle as of
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

TOP = (
    WrongValues(
        "numbers-in-the-part", "The largest logits are right, and the token numbers count from the beginning of a device's "
        "part.", 2, when=of.with_ids(of.in_part)),
    WrongValues(
        "another-part-size", "The numbers of each part begin at a multiple of something else than the part's size. Add the "
        "device's place along x times the number of logits in a part.", 2, when=of.other_part_size),
    WrongValues(
        "places-among-candidates", "The largest logits are right, and the numbers are places among the gathered candidates. "
        "Look up which tokens these are.", 3, when=of.with_ids(of.among_candidates)),
    WrongValues(
        "too-few-candidates", "Each device handed in too few candidates. All of the largest four may lie in one part.", 1,
        when=of.fewer),
    WrongValues(
        "own-part-only", "Each device took the largest of its own part, and nobody compared them.", 1, local=of.own_part),
    WrongValues("smallest", "These are the smallest logits.", 1, like=lambda logits: of.top_four(logits, sign=-1)),
    WrongCost(
        "logits-gathered", "The logits of the whole vocabulary were moved. Four candidates from each part are enough.", 1,
        when=of.logits_move),
    promise_over_x("nothing was gathered over x, or all_gather lacks to='invarying'.", 3),
)  # fmt: skip

QUESTION = Question(
    "16.5", "The largest four, by parts", difficulty=3, minutes=30, optional=True,
    items=(
        ProgramItem("top_four", {"V": 3.5, "S": 1.5, "H": 4}, oracle=of.top_four, misconceptions=TOP, draw=of.draw,
                    rtol=0.0, atol=0.0, tolerance="nothing is computed, numbers are only chosen",
                    cases=(of.case(LINE, 3, 192), of.case(WIDE, 5, 80))),
    ),
    hints=(
        "Can a logit be among the largest four of all without being among the largest four of its part?",
        "jax.lax.top_k gives places in its argument. What has to be added to make them token numbers?",
        "values, i = top_k(part, 4); i += axis_index('x') * part size; all_gather both along axis 1; top_k again, and "
        "take_along_axis of the numbers.",
    ),
    explanation="A logit that is among the largest four of all is among the largest four of its part. So four candidates "
                "from each device are enough, and their bytes depend on the number of devices and not on the vocabulary. "
                "The token number has to travel with each of them.\n\nThe same holds for drawing a token: with Gumbel "
                "noise added to the logits, the largest sum is a draw from the softmax, so each device adds noise to its "
                "part and hands "
                "in its largest. This noise must differ from part to part, and devices that hold copies of one part need "
                "the same noise.",
)  # fmt: skip
