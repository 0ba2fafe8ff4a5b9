"""Chapter 9, exercise 9.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from functools import partial

from shardlab_course.ch09.ex07 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

STEP = (
    WrongValues(
        "all-tokens-reduced", "A device reduces only its own tokens: divide T by the number of devices along `data`.", 2,
        like=of.step_with(tokens=False)),
    WrongValues(
        "whole-gradients-reduced", "A device has gradients only for its own part of the weights: divide by the number of "
        "devices along `model`.", 2, like=of.step_with(weights=False)),
    WrongValues(
        "all-reduce-counted-once", "This is half of the price. An all-reduce is a reduce-scatter and an all-gather, so it "
        "counts twice. (Or you counted two bytes for a number, and float32 has four.)", 1,
        like=of.step_with(reductions=1)),
    WrongValues(
        "forward-only", "This is half of the price over `model`. Perhaps the way back is missing: X's gradient is a sum "
        "over `model` too, so there is an all-reduce on the way back.", 1,
        like=of.step_with(passes=1)),
    WrongValues(
        "one-device-is-not-free", "Along an axis of one device there is nothing to add up, so it costs nothing.", 3,
        like=of.step_with(free=False)),
    WrongValues(
        "axes-swapped", "Hidden units are cut along `model`, so outputs are added up over it. Tokens are cut along `data`, "
        "so gradients of weights are added up over `data`.", 2, like=of.step_swapped),
)  # fmt: skip
BEST = (
    WrongValues(
        "always-data", "Not always. Where weights are large and tokens few, it saves more to cut the weights.", 1,
        like=lambda t, d, f, n: [n, 1]),
    WrongValues(
        "always-model", "Not always. Where there are many tokens, it saves more to cut them.", 1,
        like=lambda t, d, f, n: [1, n]),
    WrongValues(
        "larger-of-equal-ones", "Of two meshes that cost the same, take the one with the smaller `model`.", 1,
        like=partial(of.best_mesh, larger=True)),
    WrongValues(
        "larger-axis-alone", "Add the bytes over both axes. This mesh has the fewest on its busier axis.", 1,
        like=partial(of.best_mesh, alone=True)),
    WrongValues(
        "powers-of-two-only", "Not every size is a power of two: 6 devices can be 2 by 3.", 1,
        like=partial(of.best_mesh, powers=True)),
)  # fmt: skip

QUESTION = Question(
    "9.7", "Two axes, two costs", difficulty=4, minutes=35, optional=True,
    items=(
        CallsItem("step_bytes", {"C": 7}, oracle=of.step_bytes, draw=of.draw_step, drawn=20, rtol=1e-9,
                  misconceptions=STEP,
                  calls=((64, 32, 128, 8, 1), (64, 32, 128, 4, 2), (64, 32, 128, 2, 4), (64, 32, 128, 1, 8),
                         (16, 48, 96, 2, 3))),
        CallsItem("best_mesh", {"C": 5}, oracle=of.best_mesh, draw=of.draw_sizes, drawn=20,
                  misconceptions=BEST,
                  calls=((64, 32, 128, 8), (65536, 1024, 4096, 8), (64, 8192, 32768, 8), (4096, 1024, 4096, 16),
                         (192, 96, 240, 6), (96, 32, 264, 12), (512, 256, 3328, 16))),
    ),
    hints=(
        "For each sum, ask: what differs between the devices that take part? Hidden units are cut along one axis, tokens "
        "along the other.",
        "Along `model` activations are added up: T / data tokens of D numbers, forward and backward. Along `data` "
        "gradients are added up: each device's share of W1 and of W2.",
        "model: multiply 2 passes, 2 for an all-reduce, 4 bytes and T / data · D. data: multiply 2 for an all-reduce, 4 "
        "bytes and 2 · D · F / model. An axis of size 1 costs nothing.",
    ),
    explanation="Forward, bytes move only over `model`, and only for the tokens of one row of the mesh. Backward, the "
                "gradient of X is a sum over hidden units, so over `model`, and it is as large as Y. The gradients of the "
                "weights are sums over tokens, so over `data`, and they are as large as a device's share of the weights. "
                "So each axis makes the other cheaper: with more rows of the mesh each row has fewer tokens, and with more "
                "columns the gradients are smaller.\n\nThe product of the two costs is the same for all meshes with both "
                "axes, so among these the sum is smallest where the costs are nearest to equal. A mesh with one axis may "
                "still be cheaper, because an axis of one device costs nothing. Real machines add two differences. The "
                "wires of one axis may be faster. And what moves over `model` has to arrive before the next layer can "
                "start, while gradients can travel as soon as they are ready.",
)  # fmt: skip
