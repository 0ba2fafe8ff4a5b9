"""Chapter 12, exercise 12.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

RIGHT_ON = (
    WrongValues("wrong-everywhere", "On one device `i` and `(d + i) % n` are the same number.", 1, like=[]),
    WrongValues("right-everywhere", "The block is right on every device only in a test that cannot show the "
                                    "mistake.", 1, like=[*range(8)]),
    WrongValues(
        "not-round-by-round", "In round i device d has chunk d + i, modulo n, and takes rows i. On which devices are these "
        "the same number in every round?", 1, like=lambda said: isinstance(said, list | tuple)),
)  # fmt: skip
PASSES = (
    WrongValues(
        "ones-are-seen", "If both factors are all ones, the products of all chunks are equal.", 2,
        like=lambda said: "a" not in said),
    WrongValues(
        "only-all-ones", "It is enough that the chunks of one of the two factors are equal.", 2,
        like=lambda said: set(said) in ({"a"}, {"a", "b"}, {"a", "c"})),
    WrongValues(
        "symmetry-seems-to-help", "If the rows of X are equal, or W is symmetric, the chunks along the contracted dimension "
        "still differ.", 2, like=lambda said: bool({"d", "e"} & set(said))),
    WrongValues(
        "scale-seems-to-help", "Small numbers make a small error; a test with a relative tolerance still sees it.", 2,
        like=lambda said: "f" in said),
)  # fmt: skip

LINE = (
    WrongValues("ring-blamed", "The ring is right: every device gets every chunk once.", 3, like="E"),
    WrongValues(
        "start-blamed", "This line does the same on all devices, and that is right.",
        3, like=lambda said: said in ("A", "B")),
    WrongValues("product-blamed", "The product of the two factors is right. Do these two factors belong together?",
    3, like="D"),
)  # fmt: skip

QUESTION = Question(
    "12.7", "Detective: it passed on ones", difficulty=3, minutes=25,
    items=(
        ValueItem("right_on", {"P": 2.5}, key=[0], misconceptions=RIGHT_ON),
        ValueItem("passes", {"P": 3}, key=frozenset("abc"), members=tuple("abcdef"), misconceptions=PASSES),
        ValueItem("line_at_fault", {"P": 1.5}, key="C", words=tuple("ABCDE"), misconceptions=LINE),
    ),
    hints=(
        "Take three devices and write down, for each and for each round, which chunk of X meets which rows of W.",
        "A test can only see the mistake if a wrong pair gives a different product from the right one.",
        "Compare with 12.1: which number says which rows belong to the chunk that a device holds? On which device is `i` "
        "that number?",
    ),
    explanation="In round i device d multiplies chunk d + i with rows i. On device 0 that is right, so you see nothing if "
                "you print one shard, or compare what device 0 has. On ones every chunk is like every other. The same holds "
                "if one factor alone is made of ones, or of equal chunks. Equal rows of X do not hide the mistake, nor does "
                "a symmetric W. Small numbers make the error small, but not relative to the right values. The values are "
                "wrong, while permutes, bytes, shapes and shardings are those of the right program. Test with random "
                "numbers, and compare what every device holds.",
)  # fmt: skip
