"""Chapter 16, exercise 16.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex07 import oracle as of
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import LEFT, promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

ACCEPT = (
    LEFT,
    WrongValues(
        "own-part-only", "Each device compared the proposals with the largest logits of its own part, so the devices "
        "disagree about how many are accepted.", 1, local=of.own_part),
    WrongValues(
        "anybodys-largest", "A proposal passed because its logit is the largest of some part. It has to be the largest of "
        "all.", 1, when=of.anybodys),
    WrongValues(
        "numbers-in-the-part", "The target's tokens are numbered from the beginning of a device's part.", 2,
        when=of.in_part),
    WrongValues(
        "agreements-counted", "All agreements were counted. After the first difference they say nothing: there the target "
        "continued a text that it would not have written.", 1, like=of.all_agreements),
    WrongValues(
        "none-when-all-agree", "Where the target agrees with all proposals, the count is 0, as argmin's is where all values "
        "are equal. Add one more place, at which nothing agrees.", 2, like=of.none_when_all_agree),
    WrongValues(
        "last-of-equals", "Among equal logits the token with the highest number was taken, but the exercise asks for the "
                          "lowest.", 2,
        like=of.last_of_equals),
    WrongValues(
        "numbers-added", "Two parts have the same largest logit, and the numbers of both tokens were added.", 2,
        like=of.numbers_added),
    WrongValues(
        "own-token-counted", "The count is one too large. Perhaps the target's own token was counted as an accepted "
        "proposal.", 1, like=of.own_token_counted),
    WrongValues(
        "another-row", "The token comes from the row before or after the right one. Row t is what the target says after t "
        "proposals.", 3, when=of.another_row),
    WrongValues(
        "row-after", "Each proposal was compared with what the target says after it. Proposal t has to be compared with "
        "row t.", 1, like=of.row_after),
    WrongValues(
        "shortest-of-the-batch", "All sequences got the shortest count of the batch. Each has a count of its own.", 3,
        like=of.shortest),
    WrongCost(
        "logits-gathered", "The logits of the whole vocabulary were moved. A device needs the largest of each row, and "
        "which token that is.", 2, when=of.logits_move),
    promise_over_x("it was made from a device's own logits alone, or a gather lacks to='invarying'."),
)  # fmt: skip

QUESTION = Question(
    "16.7", "As far as the target agrees", difficulty=4, minutes=30, optional=True,
    known_as="speculative decoding with greedy acceptance (Leviathan and others, 2023)",
    items=(
        ProgramItem("accept", {"V": 4.5, "S": 1.5, "H": 4}, oracle=of.accept, manual=True, misconceptions=ACCEPT,
                    draw=of.draw, rtol=0.0, atol=0.0, tolerance="nothing is computed, tokens are only compared",
                    slack=of.candidates,
                    slack_reason="one gather of a candidate from each device is right too: more bytes, fewer hops",
                    cases=(of.case(LINE, 4, 5, 96), of.case(WIDE, 5, 4, 80))),
    ),
    hints=(
        "Which of the target's tokens decide? No device can compare a proposal before it knows the largest of all logits in "
        "that row.",
        "Two steps are enough. First, pmax gives the largest logit of each row. Then every device that has it names the "
        "lowest of its tokens, and the others a number beyond all tokens. Which reduction chooses?",
        "chosen = pmin(...); agree = draft == chosen[:, :-1]; the count is jnp.cumprod(agree, 1).sum(1); the token is "
        "take_along_axis of chosen at the count.",
    ),
    explanation="Only the choice of the target's tokens needs the other devices. It has two rules: the largest logit, and "
                "of equal ones the lowest number. A pmax keeps the first rule and a pmin the second. Now every device "
                "has the same numbers, so what it computes from these is equal everywhere, and nothing more has to be sent. "
                "JAX knows that: the types of `chosen`, of the count and of the token do not vary over x, which proves "
                "out_specs=P().\n\nA server goes on from here. It cuts the caches back to the count, and the next step "
                "begins there. If two devices had different counts, they would write into different positions, and a loop "
                "that ends with a sequence would run more often on one device than on the other. Its collectives would "
                "wait for a device that never comes.",
)  # fmt: skip
