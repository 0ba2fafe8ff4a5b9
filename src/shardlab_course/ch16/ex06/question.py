"""Chapter 16, exercise 16.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex06 import oracle as of
from shardlab_course.ch16.ex06 import served
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import LEFT, promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

SERVE = (
    LEFT,
    WrongValues(
        "numbers-in-the-part", "The tokens that were chosen are numbered from the beginning of a device's part of the "
        "vocabulary, and the next step looked up other tokens.", 3, when=of.numbered_in_the_part),
    WrongValues(
        "another-part-size", "The tokens' numbers in each part of the vocabulary begin at a multiple of something else than "
        "the part's size. Add the device's place along x times the number of logits in a part.", 3,
        when=of.other_part_size),
    WrongValues(
        "own-position-missing", "A token did not look at itself: its key and value have to be in the cache before it "
        "attends.", 2, like=of.decoded_with(behind=0)),
    WrongValues(
        "empty-positions", "Positions that are not filled yet took part: their scores of 0 have a weight too. "
        "`attend_filled` takes the number of filled positions.", 2, like=of.decoded_with(everywhere=True)),
    WrongValues(
        "not-rotated", "Keys and queries have to be rotated by their position, which is the number of the step.", 1,
        when=served.served(*served.NOT_ROTATED)),
    WrongValues(
        "one-position-off", "A position is off by one. In step t the query and the new key are rotated by t, the key and "
        "its value are written to place t, and t + 1 places are filled.", 2, when=served.served(*served.ONE_OFF)),
    WrongValues(
        "sum-missing", "A sum over x is missing: each device went on with what its own heads or hidden units gave.", 2,
        when=served.served(*served.NO_SUM)),
    WrongValues(
        "not-a-sum", "Over x a mean or a maximum was taken. What the devices' heads or hidden units give are terms of a "
        "sum: use psum.", 2, when=served.served(*served.OTHER_SUM)),
    WrongValues(
        "logits-not-compared", "Each device chose among its own tokens, and the logits of these were not compared between "
        "devices.", 3, when=served.served(*served.NOT_COMPARED)),
    WrongValues(
        "begins-with-the-prompt", "The first token was returned as well. The answer begins with the one made from it.", 1,
        when=of.one_late),
    WrongCost(
        "weights-moved", "Weights were gathered. They stay where they are, and a vector for each sequence is summed.", 2,
        when=of.weights_move),
    WrongCost(
        "logits-gathered", "All logits were brought to every device. A device needs the largest of each part, and which "
        "token that is.", 3, when=of.logits_move),
    WrongCost(
        "everything-anew", "A sum carries as many numbers as vectors of all positions have. Perhaps each step computes "
        "keys and values of all positions again: the cache is there to keep them.", 2,
        when=of.everything_anew),
    WrongCost(
        "heads-of-others-held", "The cache of a device has room for all key heads, and the device needs only its own. The "
        "zeros should have as many heads as its part of Wk.", 2, when=of.holds_all_heads, letters="M"),
    WrongProgram(
        "cache-does-not-vary", "A float32 array that the loop carries is equal on all devices at one end of a step, and "
        "varies at the other. Perhaps the cache begins as zeros: let it vary from the beginning, with jax.lax.pcast(..., "
        "'x', to='varying').", 2,
        error=r"(?s)scan.*carry.*has type float32\[.*(varying|V:|manual axes)"),
    WrongProgram(
        "token-varies", "The type of the chosen token varies over x, and that of the first one does not. Perhaps each "
        "device chose among its own tokens, or a gather lacks to='invarying'.", 3,
        error=r"(?s)scan.*carry.*has type int32\[.*(varying|V:|manual axes)"),
    promise_over_x("something was not summed over x, or a gather lacks to='invarying'."),
)  # fmt: skip

QUESTION = Question(
    "16.6", "Thirty-two tokens, and the same ones", difficulty=5, minutes=60,
    items=(
        ProgramItem("serve", {"V": 9, "S": 2, "H": 6, "M": 3}, oracle=of.decoded, manual=True, misconceptions=SERVE,
                    checks=(Check("M", of.too_much_held),), draw=of.draw, rtol=0.0, atol=0.0,
                    tolerance="tokens are numbers; the largest logit leads by far more than rounding",
                    cases=(of.case(LINE, 2, 16, 128), of.case(WIDE, 1, 24, 96))),
    ),
    hints=(
        "Write `decode` inside of shard_map, line by line. Which products have a sum over something that is cut?",
        "Heads are cut, so the cache is too: its zeros have a device's number of key heads, and must vary over x. Call psum "
        "after Wo and after Wd, and nowhere else in a layer.",
        "The token: max and argmax of a device's logits, plus axis_index('x') times their number; all_gather both with "
        "to='invarying'; take the token where the largest is.",
    ),
    explanation="The program is the one for a single device with three differences: two sums in each layer, a choice among "
                "candidates at the end, and a cache that has a device's key heads. Everything else works on what a device "
                "has: norms and residuals on whole vectors, the cache and attention on whole heads.\n\nThe values of the "
                "sharded program are not exactly those of the unsharded one, because a sum in parts is rounded "
                "differently. "
                "The *tokens* are equal as long as the largest logit leads by more than rounding. The inputs here are drawn "
                "so that it does. In a real server two logits are nearly equal now and then, and in bfloat16 more often. "
                "From there on the texts differ, and neither is wrong. So compare logits after the same prefix, and not "
                "whole texts.",
)  # fmt: skip
