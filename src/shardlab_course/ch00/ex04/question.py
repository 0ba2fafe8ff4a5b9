"""Chapter 0, exercise 0.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardlab_course.ch00.ex04 import oracle as of
from shardlab_course.ch00.shared import operations
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues


def without_two(m: int, k: int, n: int) -> int:
    """Multiplications only."""
    return operations(m, k, n) // 2


RATE = (
    WrongValues(
        "additions-forgotten", "Each of the m·k·n multiplications comes with an addition, and that makes two FLOPs.", 1,
        like=lambda m, k, n, s: without_two(m, k, n) / s),
    WrongValues(
        "last-addition", "A sum of k products does take k-1 additions. But FLOPs are counted with k additions, by XLA too, "
        "as sl.inspect shows.", 3, like=lambda m, k, n, s: m * n * (2 * k - 1) / s),
    WrongValues(
        "upside-down", "A rate is work divided by time. This is time divided by work.", 1,
        like=lambda m, k, n, s: s / operations(m, k, n)),
    WrongValues(
        "output-elements", "Each of the m·n elements of C is a sum of k products.", 1,
        like=lambda m, k, n, s: 2 * m * n / s),
    WrongValues(
        "rounded-to-whole-flops", "A rate need not be a whole number, and // and int() drop its fraction.", 3,
        like=lambda m, k, n, s: operations(m, k, n) // s),
)  # fmt: skip

BELIEVABLE = (
    WrongValues(
        "wrong-way-round", "A rate below the peak can be believed, and a rate above it cannot.", 2,
        like=lambda *claim: not of.believable(*claim)),
    WrongValues(
        "additions-forgotten", "Each of the m·k·n multiplications comes with an addition, and that makes two FLOPs.", 1,
        like=lambda m, k, n, s, peak: without_two(m, k, n) <= peak * s),
    WrongValues(
        "peak-itself-refused", "A rate that is exactly the peak is not above it.", 3,
        like=lambda m, k, n, s, peak: operations(m, k, n) < peak * s),
    WrongValues(
        "rounded-to-whole-flops", "A rate need not be a whole number. Perhaps // or int() drops its fraction.", 2,
        like=lambda m, k, n, s, peak: operations(m, k, n) // s <= peak),
    WrongValues(
        "last-addition", "A sum of k products does take k-1 additions. But FLOPs are counted with k additions.", 3,
        like=lambda m, k, n, s, peak: m * n * (2 * k - 1) <= peak * s),
    WrongValues(
        "upside-down", "The time at the peak is work divided by the peak. This is the peak divided by work.", 1,
        like=lambda m, k, n, s, peak: s >= peak / operations(m, k, n)),
    WrongValues(
        "believes-everything", "Some of these claims are above the peak of the chip.", 2, like=lambda *claim: True),
)  # fmt: skip


def takes(card: str, *wrong: str) -> Any:
    """Whether a card is answered with one of these."""

    def is_said(said: Mapping[str, Any]) -> bool:
        return said[card] in wrong

    return is_said


CLOCKS = (
    WrongValues(
        "microseconds-matmul", "A call returns when the work is handed over, not when it is done. If you do not wait for "
        "the product, you time only how long it takes to hand the work over "
        "(a).", 1, like=takes("a", "product", "compiling")),
    WrongValues(
        "waits-for-another", "The clock stops before the waiting begins, so the waiting is not timed (d).", 2,
        like=takes("d", "product", "compiling")),
    WrongValues(
        "first-call-compiles", "`jax.jit` compiles in the first call, and this program times that call (c).", 2,
        like=takes("c", "product", "dispatch")),
    WrongValues(
        "only-one-way-to-wait", "NumPy needs the numbers, so it waits until they are there, as `block_until_ready` does "
                                "(e).",
        3, like=takes("e", "dispatch", "compiling")),
)  # fmt: skip

QUESTION = Question(
    "0.4", "A product in microseconds", difficulty=2, minutes=12, optional=True,
    items=(
        ValueItem("clocks", {"P": 1.75}, predicted=True, words=("dispatch", "product", "compiling"),
                  misconceptions=CLOCKS, key={
            "a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product",
        }),
        CallsItem("rate", {"C": 0.75}, oracle=of.rate, draw=of.draw_rate, rtol=1e-6, misconceptions=RATE,
                  calls=((2048, 2048, 2048, 0.05), (2048, 2048, 2048, 0.0003), (3, 5, 7, 1e-6), (64, 32, 16, 2.0),
                         (3, 5, 7, 0.9))),
        CallsItem("believable", {"C": 0.75}, oracle=of.believable, draw=of.draw_claim,
                  misconceptions=BELIEVABLE, calls=(
            (2048, 2048, 2048, 0.05, 2e12), (2048, 2048, 2048, 0.0003, 2e12), (4096, 1024, 512, 3e-5, 1.97e14),
            (4096, 1024, 512, 1.5e-5, 1.97e14), (1024, 1024, 1024, 1e-5, 1.97e14), (64, 32, 16, 0.5, 131072.0),
            (3, 5, 7, 0.8, 250.0), (3, 5, 7, 0.8, 260.0), (3, 5, 7, 0.8, 262.25),
        )),
    ),
    hints=(
        "Does anything between `start` and `stop` need the numbers of C? If nothing does, nothing waits.",
        "Waiting after `stop` is not timed. A first call compiles. NumPy cannot hold a number that does not exist yet. For "
        "the formulas: an element of C is a sum of k products.",
        "C has m·n elements, and each takes k multiplications and k additions: 2·m·k·n FLOPs in all. Divide by the "
        "seconds. Believe a rate that is not above the peak.",
    ),
    explanation="The call of a large product returns as soon as the work is handed over. (When many calls are under way, "
                "the next one may wait.) A clock that stops there shows only how long it took to hand the work over, "
                "however large the matrices are and whatever the program waits for afterwards. block_until_ready waits, "
                "and so does everything that needs the numbers, such as np.asarray or print.\n\nThe first call of a jitted "
                "function also compiles, and so does the first call with another shape, dtype or sharding. So a "
                "measurement starts with the call after it. Every time can be turned into a rate: a product of an (m, k) "
                "and a (k, n) matrix has 2·m·k·n FLOPs. If the rate is above the peak of the chip, the time is wrong.",
)  # fmt: skip
