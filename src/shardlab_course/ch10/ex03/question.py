"""Chapter 10, exercise 10.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongValues

CHECKED = {"a": "8 times", "b": "right", "c": "8 times", "d": "right", "e": "64 times"}
UNCHECKED = {"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"}


def small_letters(answer: str) -> str:
    """The answer as the page spells it."""
    return answer.strip().lower()


WITHOUT_CHECK = (
    WrongValues(
        "as-with-the-check",
        "That is what they return with the check. Without it JAX does not know which values vary, and inserts no sum.",
        1, like=CHECKED),
    WrongValues(
        "loss-is-enough",
        "A pmean of the loss alone is enough only with the check. Without it psum is its own transpose, and each device "
        "keeps the gradient of its own samples.",
        2, like=lambda got: got["b"] == "right"),
    WrongValues(
        "somebody-sums", "Without the check there is no sum unless you write it: c has no collective at all.",
        1, like=lambda got: got["c"] != "own"),
)  # fmt: skip

MECHANISM = why(
    "What puts a sum over the devices into a gradient, where you wrote none?",
    a=Believed(
        "`out_specs`: what is returned as `P()` is added up.",
        "out-specs-add",
        "All five return `P()`, and two of them return each device's own gradient: `out_specs` adds nothing.",
    ),
    b="JAX, when it differentiates: by their types, the weights are the same on all devices, and what is computed from "
    "them is not.",
    c=Believed(
        "XLA, when it compiles: it finds that copies of one array got different gradients.",
        "compiler-adds",
        "It compiled all ten programs, and c has a sum with the check and none without it: XLA runs what it is given.",
    ),
)

QUESTION = Question(
    "10.3", "The same five programs, unchecked", difficulty=4, minutes=20,
    items=(
        ValueItem("unchecked", {"P": 5.5}, predicted=True, key=UNCHECKED, misconceptions=WITHOUT_CHECK,
                  words=("right", "8 times", "64 times", "own"), spelling=small_letters),
        MECHANISM,
    ),
    hints=(
        "Without the check JAX does not track what varies. So it cannot know that a sum is missing.",
        "Then jax.grad inserts no sum for the weights: the backward pass has only the transpose of what you wrote. What "
        "is the transpose of psum, if it is not the cast?",
        "c has no collective. a averages gradients of a device's own samples. In b the cotangent 1 goes through psum's "
        "transpose, again a psum, and the division by 8: what is left?",
    ),
    explanation="With check_vma=False no type says that the weights are the same everywhere, so jax.grad leaves each device "
                "with the gradient of what it computed itself. c returns that and nothing more. a averages, which is right, "
                "as it was in pmap. b differentiates a pmean: psum's transpose is then psum, the eight cotangents of 1 add "
                "up to 8, the division makes it 1 again, and each device gets its own gradient. d averages those, which is "
                "right. e sums them: 8 times too much.\n\nSo d is the only one that is right in both worlds, and with the "
                "check it moves twice the bytes. b and c are worse than wrong: out_specs=P() promises equal copies, these "
                "copies differ, and printing shows only device 0's.",
)  # fmt: skip
