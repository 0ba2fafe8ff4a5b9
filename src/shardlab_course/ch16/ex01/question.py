"""Chapter 16, exercise 16.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex01 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

TIMES = (
    WrongValues(
        "work-taken-for-time", "The chip multiplies 16 times as much. But at these sizes it waits for the weights, and it "
        "reads them once for all 16 sequences.", 1, like=16),
)  # fmt: skip
CACHED = (
    WrongValues(
        "values-forgotten", "This is half of the cache. It has keys and values, and a bfloat16 number has 2 bytes.", 1,
        like=of.cached_with(arrays=1)),
    WrongValues(
        "one-layer", "This is the cache of one layer. Every layer has its own.", 1, like=of.cached_with(layered=False)),
    WrongValues(
        "query-heads-cached", "The cache has one vector for each key head, not one for each query head.", 1,
        like=of.cached_with(queries=True)),
    WrongValues(
        "four-bytes-each", "This is twice the cache. A bfloat16 number has 2 bytes.", 1, like=of.cached_with(size=4)),
)  # fmt: skip
SECONDS = (
    WrongValues(
        "weights-for-each-sequence", "The weights are read once in a step, however many sequences there are.", 2,
        like=of.seconds_with(weights_each=True)),
    WrongValues(
        "one-cache-for-all", "Every sequence has its own cache, so the step reads as many caches as there are sequences.", 2,
        like=of.seconds_with(caches="one")),
    WrongValues("cache-not-read", "Attention reads the whole cache of each sequence in every step.", 2,
                like=of.seconds_with(caches="none")),
    WrongValues(
        "times-added", "Reading and multiplying go on at the same time, so the step takes as long as the longer of the "
        "two.", 3,
        like=of.seconds_with(combine=sum)),
    WrongValues("shorter-of-the-two", "The step is over when the slower of the two is done.", 3,
                like=of.seconds_with(combine=min)),
    WrongValues("one-flop-a-weight", "Each weight costs a multiplication and an addition: 2 FLOPs for each sequence.", 3,
                like=of.seconds_with(flops=1)),
    WrongValues(
        "only-reading", "This is the time for reading in every call. With a large batch, multiplying takes longer: every "
        "sequence has its own row, so the FLOPs grow with the batch.", 3, like=of.seconds_with(rows=False)),
    WrongValues("bytes-of-weights", "A weight in bfloat16 has 2 bytes.", 2, like=of.seconds_with(size=1)),
)  # fmt: skip

QUESTION = Question(
    "16.1", "What does a token wait for?", difficulty=2, minutes=25,
    items=(
        ValueItem("times", {"P": 0.5}, predicted=True, key=1, misconceptions=TIMES),
        CallsItem("cached", {"C": 3}, oracle=of.cached, draw=of.draw_cached, misconceptions=CACHED,
                  calls=((32, 32, 8, 128, 8192), (80, 64, 8, 128, 4096), (2, 4, 4, 16, 100))),
        CallsItem("seconds", {"C": 4}, oracle=of.seconds, draw=of.draw_seconds, rtol=1e-6, misconceptions=SECONDS,
                  calls=((8_000_000_000, 10**9, 1, 1.97e14, 8.2e11), (8_000_000_000, 10**9, 64, 1.97e14, 8.2e11),
                         (8_000_000_000, 10**6, 1024, 1.97e14, 8.2e11), (70_000_000_000, 10**7, 700, 9.9e14, 3.4e12))),
    ),
    hints=(
        "What does one step read that all sequences share, and what belongs to one sequence alone?",
        "A cache has keys and values, for every layer, key head and position, with `width` numbers of 2 bytes each. A step "
        "reads the weights once and the cache of every sequence.",
        "bytes = 2 * parameters + batch * cache; FLOPs = 2 * parameters * batch. Divide each by its rate and take the "
        "longer time.",
    ),
    explanation="A step with one row for each sequence multiplies each weight once for each row and reads it once for all "
                "of them. So while reading is slower, a further sequence adds almost no time, until the FLOPs take as long "
                "as the bytes. Each weight costs 2 bytes, and 2 FLOPs for each row. So both times are equal when the "
                "number of rows is the chip's FLOPs a second divided by its bytes a second.\n\nThe cache is "
                "different. Nobody shares it, so its bytes grow with the batch as the FLOPs do. With a long context a step "
                "waits for memory at any batch, and a larger batch then makes every token wait longer. Prefill has a row "
                "for each position of the prompt, so a single prompt can already be long enough to keep the chip busy.",
)  # fmt: skip
