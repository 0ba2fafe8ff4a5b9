"""Chapter 14, exercise 14.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex04 import oracle as of
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Check, Question, WrongProgram, WrongValues

START = (
    WrongProgram(
        "hosts-must-agree",
        "device_put wants the same whole array from each process, even if it is to be cut, and compares them; these "
        "differ. Draw weights alike in every process. If an array is cut, a process gives its own part to "
        "make_array_from_process_local_data.",
        2, error="not the same on each process"),
    WrongValues(
        "weights-by-host", "The array of weights promises equal copies, and they are not equal. Perhaps each process made "
        "its own weights.",
        1, when=lambda seen: not seen.returned[0]["weights"].copies),
    WrongValues(
        "same-rows-on-every-host",
        "Both processes chose the same rows, so the batch is half as large as it looks. Which rows a process reads "
        "depends on process_index.",
        2, when=lambda seen: seen.returned[0]["rows"] == seen.returned[1]["rows"]),
    WrongValues(
        "own-order-on-every-host",
        "Some rows are read by both processes. Perhaps each process has an order of its own, or their parts of one order "
        "overlap: shuffle alike, then share out that one order.",
        2, when=lambda seen: of.overlap(seen) > 0),
    WrongValues(
        "not-shuffled", "Each process reads its rows in rising or falling order: shuffle all samples by `seed`, share that "
        "order out, and leave it as it is.",
        2, when=of.in_order),
    WrongValues(
        "order-of-no-seed", "The order of the samples does not depend on `seed`: every run reads the same rows first.",
        2, when=of.order_of_no_seed),
    WrongValues(
        "same-noise-on-every-host",
        "The hosts have equal noise. Perhaps each drew its part from the same key: draw one global array, or fold the "
        "process number into the key.",
        3, when=of.repeated_by_host),
    WrongValues(
        "same-noise-on-every-device", "Devices have equal noise. Perhaps they drew from the same key, or got copies of one "
        "draw.",
        3, when=of.repeated_by_device),
    WrongValues(
        "no-normal-noise", "The noise does not look normal: its mean should be near 0, its standard deviation near 1, and "
        "some of its numbers should be twice as far from 0.",
        3, when=lambda seen: not of.normal(seen.returned[0]["noise"].whole) or of.uniform(seen)),
)  # fmt: skip

QUESTION = Question(
    "14.4", "Alike and not alike", difficulty=3, minutes=30, optional=True,
    items=(
        ProcessesItem("start", {"V": 6, "S": 2}, checks=(Check("V", of.not_begun),), misconceptions=START,
                      cases=(of.starting(3, 40, 6), of.starting(8, 32, 16), of.starting(5, 40, 6)), draw=of.draw_starting),
    ),
    hints=(
        "Three things are random. Which must be the same on both hosts, which must differ, and which must be shared out?",
        "Rows: both processes shuffle with the same seed, and each takes its share of the order. Weights and noise: "
        "global arrays from keys that all processes have.",
        "rows: permutation(samples)[process :: processes][:rows]. Weights and noise: jax.jit of jax.random.normal with "
        "the global shape, with out_shardings P() and P('data'). The noise has a key of its own, made by fold_in.",
    ),
    explanation="Weights are copies, so every process must make them from the same key. Nothing checks that, unless you "
                "use device_put, which compares. Samples are shared out: shuffle with the same seed in every process, "
                "then take a part by process_index. If each process has a seed of its own, they read some samples twice "
                "and others never. Noise must differ from device to device.\n\nThe simplest way is one global draw from "
                "one key, cut over the devices. Each device makes its own part, and the numbers stay the same on a "
                "different number of hosts. With local draws, fold the process number into the key. In short: for copies, "
                "the same key; for a cut array, one key for the whole or a different key for each part.",
)  # fmt: skip
