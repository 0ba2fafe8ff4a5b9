"""Chapter 5, exercise 5.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch05.ex02 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

MINI = (
    WrongValues(
        "root-of-floats", "64 ** (1 / 3) is 3.9999999999999996. int() turns it into 3, and is_integer() says no. Take "
        "roots in whole numbers.", 3, like=of.mistaken(truncate=True)),
    WrongValues(
        "number-of-star-forgotten", "A starred word is its number times the ratio. So divide the share by the starred "
        "numbers, too, before you take the root.", 2, like=of.mistaken(bare=True)),
    WrongValues(
        "one-word-wins", "All words of a repeated name cut its dimension, and not only the last.", 2,
        like=of.mistaken(keep=slice(-1, None))),
    WrongValues(
        "one-word-wins", "All words of a repeated name cut its dimension, and not only the first.", 2,
        like=of.mistaken(keep=slice(1))),
    WrongValues(
        "divides-without-stars", "\"numbers-do-not-divide\" is for expressions with stars. Without a star, numbers whose "
        "product is not n are \"numbers-do-not-multiply\".", 1, like=of.mistaken(divide=True)),
    WrongValues(
        "copies-by-default", "Without a star the numbers must multiply to the number of devices. Copies have to be written "
        "out.", 1,
        like=of.mistaken(lenient=True)),
)  # fmt: skip

MINI_CALLS: tuple[tuple[Any, ...], ...] = (
    ("a b -> a2 b3", 8), ("a b -> 2 b4 a", 8), ("a b -> * a* b*", 8), ("a -> a4*", 8), ("a b -> a* b*", 8),
    ("r c -> r2 c2 r2", 8), ("a -> a2", 8), ("a b -> a3 b*", 8), ("a b c -> a2* b2 c*", 16), ("a b c -> a* b* c*", 64),
    ("a b -> a4 c2", 8), ("batch d -> batch* d", 1), ("a b -> a4", 8), ("a -> a2 b3", 8), ("a b -> a2* b2* 3", 48),
    ("a b -> a12 b*", 24),
)  # fmt: skip

QUESTION = Question(
    "5.2", "A small einshard", difficulty=3, minutes=45, optional=True,
    items=(
        CallsItem("make_spec", {"V": 14}, oracle=of.make_spec, calls=MINI_CALLS, draw=of.draw_expression, drawn=60,
                  misconceptions=MINI),
    ),
    hints=(
        "There are three steps: read each word as (name, number, star); find the one ratio that all stars share; collect "
        "the positions of the words of each name on the left.",
        "Multiply all numbers, starred or not. The device count divided by that product is the ratio to the power of the "
        "number of stars. Whole numbers only.",
        "re.fullmatch(r'([a-z]*)(\\d*)(\\*?)', word) takes a word apart. To find the root, try r = 1, 2, 3, ... and compare "
        "r ** stars with the share.",
    ),
    explanation="Reading, counting and placing are three steps, and only the second is arithmetic. With k stars the sizes "
                "multiply to (product of all numbers) times r to the power k. That must be the device count, so r is a "
                "whole k-th root. Whole is meant literally: 64 ** (1 / 3) is 3.9999999999999996 in floating point. A "
                "program that trusts it finds no mesh for three stars on 64 devices, although 4 by 4 by 4 is one. The "
                "package in which this language began had that fault. The grader's oracle computes no root: it tries "
                "every ratio. Notice what your function never needed: a device, an array, or JAX.",
)  # fmt: skip
