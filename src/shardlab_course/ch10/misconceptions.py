"""Chapter 10's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from shardlab_course.ch10 import clipping
from shardlab_course.ch10 import oracles as of
from shardlab_course.shared import agreement
from shardlab_course.shared.guarded import counts, lets_through, one_size
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception


def promise(cause: str, hint: int = 2) -> Misconception:
    """The promise of equal copies that JAX could not prove, with the cause that this exercise gives it."""
    return Misconception("promise-not-proved", cause, hint, error="can't be statically inferred")


def gathers(cause: str) -> Misconception:
    """An argument that is cut, or a microbatch of it, is brought together, and may stay where it is."""
    return Misconception("gathers", cause, 2, when=of.gathers_an_argument)


NUMBERS = (
    Misconception(
        "bytes-grow-with-the-batch", "A gradient is as large as the weights, however many samples it is summed over.",
        1, like=lambda got: _entry(got, "bytes") == _entry(got, "bytes_of_twice_the_batch") / 2),
    Misconception(
        "elements-not-bytes", "That counts elements; a float32 has 4 bytes.",
        1, like=lambda got: _entry(got, "bytes") == 3085),
    Misconception(
        "biases-forgotten", "That counts the matrices only; biases have gradients too.",
        1, like=lambda got: _entry(got, "bytes") == 4 * 2980),
    Misconception(
        "a-device-s-share",
        "The weights lie whole on every device, so each device's term of a gradient has all of their bytes, not an eighth.",
        1, like=lambda got: abs(_entry(got, "bytes") - 4 * 3085 / 8) < 1),
)  # fmt: skip


def _entry(got: Any, name: str) -> float:
    return float(got.get(name, -1))


STEP = (
    Misconception(
        "sum-instead-of-mean",
        "The loss is the mean over the batch; the gradient of the sum is larger by the number of terms.",
        1, like=of.descended(summed=True)),
    Misconception(
        "uphill", "The weights moved along the gradient, which makes the loss larger; subtract it.",
        1, like=of.descended(rate=-of.RATE)),
    Misconception(
        "gradient-returned", "These are the gradients; the weights after one step are asked for.", 1, like=of.slopes),
    Misconception(
        "sum-over-outputs", "The loss is the mean over samples and outputs; this is the mean over samples only.",
        1, like=of.descended(outputs=True)),
    Misconception(
        "half-the-error", "The loss is the mean squared error itself, not half of it.",
        1, like=of.descended(rate=of.RATE / 2)),
    Misconception(
        "pmap-habit",
        "With the check on, in shard_map the gradient of a weight that does not vary is a sum over the devices already: of "
        "local means it is n times too large, a pmean of it changes nothing, and a psum makes n times as much. With the "
        "check off, or with weights that were cast to varying, a psum of local means' gradients is n times their mean.",
        3, when=lambda o: o.manual and of.steps_too_long(o)),
    gathers("Samples are brought together on every device. They may stay where they are, since only terms of the gradients "
            "have to be added."),
)  # fmt: skip

GRADIENTS = (
    LEFT,
    promise("The gradients still vary, and out_specs promises equal copies: average them with pmean, or add them with psum "
            "if the loss is the mean over the devices already."),
    Misconception(
        "pmap-habit",
        "The gradient was summed over the devices already, because the weights do not vary. Of equal copies a pmean changes "
        "nothing, and a psum makes n times as much: it is n times too large, and moves twice the bytes.",
        1, when=lambda o: _times(o, lambda n: n) and of.reduced_twice(o)),
    Misconception(
        "sum-of-means",
        "This is the sum of n gradients, each of a mean over one device's samples; the mean over all samples has an n-th of "
        "it.",
        2, when=lambda o: _times(o, lambda n: n)),
    Misconception(
        "summed-again", "The gradients were summed over the devices already; psum adds n equal copies of the sum.",
        1, when=lambda o: _times(o, lambda n: n * n)),
    Misconception(
        "averaged-twice", "The mean over devices was taken twice: in the loss and once more outside, say, or twice outside.",
        2, when=lambda o: _times(o, lambda n: 1 / n)),
    Misconception(
        "sum-over-outputs", "The loss is the mean over samples and outputs; this is the mean over samples only.",
        1, when=lambda o: _times(o, lambda n: o.inputs[1].shape[1])),
    Misconception(
        "divided-by-a-constant",
        "That divides by 8, on this mesh too, where `data` has not eight devices: ask mesh.shape, or jax.lax.axis_size.",
        1, when=lambda o: dict(o.case.axes)["data"] != 8 and _times(o, lambda n: n / 8)),
    Misconception(
        "one-left-out",
        "One gradient is right, and the other is that of a device's own samples: reduce both, say with jax.tree.map.",
        1, when=of.one_left_out),
    Misconception(
        "never-reduced",
        "Each device returned the gradient of its own samples: with weights that vary, or with check_vma=False, nobody sums "
        "for you.",
        3, local=of.unbiased_own),
    Misconception(
        "reduces-what-is-reduced",
        "Each gradient is reduced twice: say, once more when its copies are equal already.",
        3, when=lambda o: _times(o, lambda n: 1) and of.reduced_twice(o)),
    Misconception(
        "a-number-beside",
        "A single number is reduced beside the gradients, as when check_vma=False hides from JAX that it need not be. Keep "
        "the check on.",
        1, when=lambda o: _times(o, lambda n: 1) and of.scalars_reduced(o)),
    gathers("Samples are brought together on every device; terms of the gradients are all that has to move."),
)  # fmt: skip


def _times(o: Any, factor: Callable[[int], float]) -> bool:
    return of.times(o, of.unbiased, factor)


CHECKED = {"a": "8 times", "b": "right", "c": "8 times", "d": "right", "e": "64 times"}
UNCHECKED = {"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"}


def small_letters(answer: str) -> str:
    """The answer as the page spells it."""
    return answer.strip().lower()


WITHOUT_CHECK = (
    Misconception(
        "as-with-the-check",
        "That is what they return with the check. Without it JAX does not know which values vary, and inserts no sum.",
        1, like=CHECKED),
    Misconception(
        "loss-is-enough",
        "A pmean of the loss alone is enough only with the check: without it psum is its own transpose, and each device "
        "keeps the gradient of its own samples.",
        2, like=lambda got: got["b"] == "right"),
    Misconception(
        "somebody-sums", "Without the check nobody sums unless you write it: c has no collective at all.",
        1, like=lambda got: got["c"] != "own"),
)  # fmt: skip

MICRO = (
    Misconception(
        "accumulator-is-reduced",
        "Of the accumulator and the gradient one is unreduced and the other is not, and adding the two would need a sum. "
        "Zeros are resharded to unreduced; weights are cast to reduced before jax.grad, and not in what it differentiates.",
        3, error="unreduced while"),
    Misconception(
        "accumulator-does-not-vary",
        "What a loop in shard_map carries varies over data on one side only: it goes in as fresh zeros, say, and comes out "
        "varying, or is summed in the round. Start from what varies, such as zeros_like of the weights that you cast, and "
        "sum after the loops.",
        3, error="manual axis types do not match"),
    Misconception(
        "all-reduce-in-both-loops",
        "The weights are replicated, so their gradient is reduced where it arises: once for each layer of each microbatch.",
        1, when=lambda o: of.runs(o) == len(o.inputs[0]) * len(o.inputs[1]) and _stacked(o)),
    Misconception(
        "all-reduce-each-microbatch",
        "The reduction left the loop over layers only: it still runs once for each microbatch.",
        2, when=lambda o: of.runs(o) == len(o.inputs[1]) and _stacked(o)),
    Misconception(
        "all-reduce-each-layer",
        "A reduction runs for each layer: the microbatches went through as one, which saves none of their memory, or the "
        "sum was reduced layer by layer.",
        2, when=lambda o: of.runs(o) == len(o.inputs[0]) and _stacked(o)),
    gathers("Microbatches are brought together on every device; only gradients have to move."),
    Misconception(
        "reduced-twice",
        "The gradients were summed in the loops already, since the weights do not vary; the last psum adds n equal copies.",
        2, when=lambda o: of.times(o, of.stacked, lambda n: n)),
    Misconception(
        "last-microbatch-only", "Each round replaces the gradients of the rounds before; add to them.",
        1, like=of.last_microbatch),
    Misconception(
        "never-reduced", "Each device returned the sum over its own samples; the one reduction is missing.",
        2, local=of.stacked_own),
    promise("Each device's sum is over its own samples, so it varies, and out_specs promises equal copies: reduce it once, "
            "after the loop."),
    Misconception(
        "mean-instead-of-sum", "The loss is a sum, so terms of the gradient are added, not averaged.",
        1, when=lambda o: of.times(o, of.stacked, lambda n: 1 / n) or _averaged_over_microbatches(o)),
    Misconception(
        "summed-after-the-reduction",
        "Every microbatch's gradient is kept and reduced, and they are added up after it. Add first: terms may be added.",
        2, when=lambda o: any(c.payload_bytes == len(o.inputs[1]) * o.inputs[0].nbytes for c in o.collectives)),
)  # fmt: skip


def _averaged_over_microbatches(o: Any) -> bool:
    return of.times(o, of.stacked, lambda n: 1 / len(o.inputs[1]))


def _stacked(o: Any) -> bool:
    return of.times(o, of.stacked, lambda n: 1)


STATISTICS = (
    LEFT,
    Misconception(
        "own-statistics",
        "Each device normalized with the mean and variance of its own rows, so the same row would come out differently "
        "elsewhere.",
        1, local=of.normalised_own),
    Misconception(
        "mean-of-variances",
        "The mean of the devices' variances leaves out how far their means lie apart: measure deviations from the global "
        "mean.",
        2, when=of.mean_of_variances),
    Misconception(
        "mean-of-deviations",
        "Standard deviations do not average; average squared deviations from the global mean, then take the root.",
        2, when=partial(of.mean_of_variances, root=True)),
    Misconception(
        "means-summed",
        "psum of the devices' means is n times the mean; pmean is the mean, since all have equally many rows.",
        1, when=of.mean_summed),
    Misconception(
        "wrong-dimension", "Each row was normalized; a batch norm takes its statistics over the batch, for each column.",
        1, like=of.normalised_rows),
    Misconception(
        "own-mean", "Each device subtracted the mean of its own rows; deviations are from the mean of the whole batch.",
        1, when=of.own_mean),
    Misconception(
        "divided-by-the-variance", "That divides by the variance; its root is the standard deviation.", 1,
        like=of.without_root),
    Misconception(
        "epsilon-forgotten", "Where a column hardly varies the small number below the root decides: it is 1e-5, added to "
        "the variance.", 3, like=of.without_epsilon),
    Misconception(
        "epsilon-outside-the-root", "1e-5 is added to the variance, before its root is taken.", 3,
        like=of.epsilon_outside),
    Misconception(
        "unbiased-variance", "The variance here is the mean of the squared deviations: divide by the number of rows.", 1,
        like=of.unbiased_variance),
    Misconception(
        "statistics-gathered",
        "Every device gets every device's statistics, and needs only their mean: pmean moves one number for each.",
        2, when=lambda o: "all-gather" in o.kinds and all(c.payload_bytes < o.inputs[0].nbytes for c in o.collectives)),
    gathers("The whole batch is gathered; two numbers for each column are all that the devices need from one another."),
)  # fmt: skip

CLIP = (
    Misconception(
        "clip-by-local-norm",
        "The factor varies over model, or JAX cannot know that it does not: it was made of what a device holds, or of an "
        "all_gather without to='invarying'. A psum of the squares is the same on all. Or out_specs promises equal copies of "
        "a gradient that is cut.",
        1, local=clipping.clipped_own, error="can't be statically inferred"),
    Misconception(
        "copies-counted",
        "psum adds what every device has: squares of an array that lies whole on n devices are counted n times.",
        2, when=clipping.copies_counted),
    Misconception(
        "norms-added", "Norms do not add; squares do. Sum the squares over the devices, then take the root.",
        2, when=clipping.norms_added),
    Misconception(
        "array-by-array",
        "Each array was clipped by its own norm; global-norm clipping has one norm and one factor for all.",
        1, like=clipping.clipped_apart),
    Misconception(
        "not-clipped",
        "The arrays came back as they were, though their norm is above the limit; jnp.clip limits single elements.",
        1, like=lambda *arrays: arrays),
    Misconception("root-forgotten", "The norm is the root of the sum of squares.", 1, like=clipping.clipped_by_square),
    Misconception(
        "squares-averaged", "Squares of parts are added: psum. pmean divides their sum by the number of devices.",
        2, when=clipping.squares_averaged),
    Misconception(
        "always-scaled", "Gradients whose norm is below the limit stay as they are; the factor is at most 1.",
        1, like=clipping.always_scaled),
    Misconception(
        "whole-array-forgotten", "The gradient that is not cut belongs to the norm too.", 1,
        like=clipping.clipped_without_last),
    gathers("Gradients are gathered to take their norm; each device can square and sum its part, and one number moves."),
)  # fmt: skip

NETWORK = (
    Misconception(
        "note-without-mesh",
        "A parameter with a note about its axes has to know whose axes they are, and no mesh is set here: give nnx.Param "
        "the mesh too.",
        3, error="mesh context or metadata is required"),
    Misconception(
        "mesh-set-inside",
        "The function is being traced, and jax.set_mesh does not work inside of a trace: give nnx.Param the mesh, or name "
        "it in a NamedSharding.",
        3, error="can only be used outside of"),
    Misconception(
        "annotation-is-not-placement",
        "The weights came whole and stayed whole, so this is data parallelism only: an nnx.Param without a note and a mesh "
        "cuts nothing, nor does a note that is not applied.",
        1, when=lambda o: of.is_whole(o, 0) and of.is_whole(o, 2) and "model" not in _axes(o)),
    Misconception(
        "placed-at-the-end",
        "The weights are cut only when training is over: every step ran on whole weights and reduced whole gradients.",
        2, when=lambda o: not of.is_whole(o, 0) and "model" not in _axes(o) and "all-gather" not in o.kinds),
    Misconception(
        "bias-left-whole",
        "W1's columns are cut over model and its bias is not: b1 has one element for each column, and goes with them.",
        1, when=lambda o: of.is_whole(o, 1) and not of.is_whole(o, 0) and "model" in _axes(o)),
    Misconception(
        "sum-instead-of-mean",
        "The loss is the mean over batch and outputs; with the sum each step is larger by the number of terms, and five "
        "steps may overflow.",
        1, when=of.overflows, like=of.descended(steps=of.STEPS, summed=True)),
    Misconception("one-step", "This is one step of five.", 1, like=of.descended()),
    Misconception(
        "another-number-of-steps", "Five steps are asked for; these weights are those after four or six.",
        1, when=lambda o: any(_after(o, steps) for steps in (4, 6))),
    Misconception(
        "uphill", "The weights moved along the gradient; subtract it.", 1, like=of.descended(rate=-of.RATE, steps=of.STEPS)),
    Misconception(
        "hidden-units-gathered",
        "The hidden units, or the weights, are brought together in every step: leave them cut over model, and only the "
        "outputs have to be summed.",
        2, when=of.gathers_in_steps),
)  # fmt: skip


def _axes(o: Any) -> set[str]:
    return {axis for c in o.collectives for axis in c.axes}


def _after(o: Any, steps: int) -> bool:
    return agreement.agrees(o, of.descended(steps=steps)(*agreement.wide(o)))


DRAWS = (
    Misconception(
        "numbers-depend-on-the-mesh",
        "In automatic and explicit mode a key and a shape determine the numbers; the sharding says only who makes which.",
        1, like=lambda got: got["same_numbers"] is False),
    Misconception(
        "numbers-are-sent", "Each device can compute the numbers of its own part from the key, so nothing is sent.",
        1, like=lambda got: float(got["collectives"]) > 0),
)  # fmt: skip

NOISY = (
    gathers("The array is brought together; its noise can be made where its rows lie."),
    Misconception(
        "same-block-everywhere", "Each device drew its block from the same key, so all blocks got the same noise.",
        1, local=of.noisy_blocks),
    Misconception(
        "depends-on-the-mesh",
        "Each device folded its number into the key: good noise, but another one on a mesh of another size.",
        1, local=of.noisy_folded),
    Misconception(
        "all-numbers-everywhere",
        "A device makes more numbers than its part has: all of them, say, and keeps its part.",
        2, when=lambda o: not o.collectives and _is_noisy(o)
        and o.placements[0].shard_shape[0] * dict(o.case.axes)["data"] == len(o.inputs[1])),
)  # fmt: skip


def _is_noisy(o: Any) -> bool:
    key, x = o.inputs
    return agreement.agrees(o, (of.noisy(key, x.astype(np.float64)),))


GUARD = (
    lets_through("values-alone", "It looks at values, and a mean taken twice has the same values for twice the bytes.",
                 "averaged-again", "own-rows", hint=1),
    lets_through("bytes-alone", "It looks at what is sent; gradients that nobody averaged cost nothing: look at `error`.",
                 "own-rows", "averaged-again", hint=1),
    lets_through("place-forgotten", "It lets a gradient through that is left in pieces: compare `shard` with `shape`.",
                 "left-cut", "averaged-again", "own-rows"),
    one_size("averaged"),
    counts("averaged", "row-by-row", "in-one"),
    lets_through("rounds-forgotten",
                 "A collective in a loop stands once in the list and runs `times` times; `price` counts them all.",
                 "each-microbatch", "averaged-again", "own-rows"),
)  # fmt: skip

MECHANISM = why(
    "Who puts a sum over the devices into a gradient, where you wrote none?",
    a=Believed(
        "`out_specs`: what leaves as `P()` is added up on its way out.",
        "out-specs-add",
        "All five leave as `P()`, and two of them come out as each device's own: nothing is added on the way.",
    ),
    b="JAX, when it differentiates: types say that the weights are the same on all devices and what is made of them is not.",
    c=Believed(
        "XLA, when it compiles: it finds that copies of one array got different gradients.",
        "compiler-adds",
        "It compiled all ten programs, and c has a sum with the check and none without it: XLA runs what it is given.",
    ),
)
