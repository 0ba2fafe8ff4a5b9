"""Chapter 12, exercise 12.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

RIGHT_ON = (
    WrongValues("wrong-everywhere", "On one device `i` and `(d + i) % n` are the same number.", 1, like=[]),
    WrongValues("right-everywhere", "Only a test that cannot see it says so.", 1, like=[*range(8)]),
    WrongValues(
        "not-round-by-round", "In round i device d has chunk d + i, modulo n, and takes rows i. On which devices are these "
        "the same number in every round?", 1, like=lambda said: isinstance(said, list | tuple)),
)  # fmt: skip
PASSES = (
    WrongValues(
        "ones-are-seen", "Where both factors are ones, one chunk's product is like every other's.", 2,
        like=lambda said: "a" not in said),
    WrongValues(
        "only-all-ones", "It is enough that one of the two factors does not tell its chunks apart.", 2,
        like=lambda said: set(said) in ({"a"}, {"a", "b"}, {"a", "c"})),
    WrongValues(
        "symmetry-seems-to-help", "Rows of X that are equal, or a symmetric W, still have different chunks along the "
        "contracted dimension.", 2, like=lambda said: bool({"d", "e"} & set(said))),
    WrongValues(
        "scale-seems-to-help", "Small numbers make a small error; a test with a relative tolerance still sees it.", 2,
        like=lambda said: "f" in said),
)  # fmt: skip

LINE = (
    WrongValues("ring-blamed", "The ring is as it should be: every device gets every chunk once.", 3, like="E"),
    WrongValues(
        "start-blamed", "This line does the same on all devices, and has to.", 3, like=lambda said: said in ("A", "B")),
    WrongValues("product-blamed", "The product is right for the two factors that it gets. Are they a pair?", 3, like="D"),
)  # fmt: skip

QUESTION = Question(
    "12.7", "Detective: it passed on ones", difficulty=3, minutes=25,
    items=(
        ValueItem("right_on", {"P": 0.75}, key=[0], misconceptions=RIGHT_ON),
        ValueItem("passes", {"P": 1}, key=frozenset("abc"), members=tuple("abcdef"), misconceptions=PASSES),
        ValueItem("line_at_fault", {"P": 0.5}, key="C", words=tuple("ABCDE"), misconceptions=LINE),
    ),
    hints=(
        "Take three devices and write down, for each and for each round, which chunk of X meets which rows of W.",
        "A test can only see the mistake if a wrong pair gives another product than the right one.",
        "Compare with 12.1: which number says which rows go with what a device has in its hands? On which device is `i` "
        "that number?",
    ),
    explanation="Round i multiplies chunk d + i with rows i. On device 0 that is right, so printing one shard, or "
                "comparing what device 0 has, shows nothing. On ones every chunk is like every other; so it is when one "
                "factor alone is made of ones, or of equal chunks. Equal rows of X do not help, a symmetric W does not, "
                "and small numbers make the error small, but not relative to what should come out. Values are off, while "
                "permutes, bytes, shapes and shardings are those of the right program. Test with random numbers, and "
                "compare what every device holds.",
)  # fmt: skip
