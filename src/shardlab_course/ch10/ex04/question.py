"""Chapter 10, exercise 10.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch10.ex04 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, SUMS, gathers, times
from shardlab_course.shared.manual import promise
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

MICRO = (
    WrongProgram(
        "accumulator-is-reduced",
        "Either the accumulator or the gradient is unreduced, not both, and adding the two would need a sum. Reshard zeros "
        "to unreduced. Cast the weights to reduced before jax.grad, and not inside the function that it differentiates.",
        3, error="unreduced while"),
    WrongProgram(
        "accumulator-does-not-vary",
        "The carry of a loop in shard_map varies over data either before a round or after it, but not both. For example, it "
        "goes in as fresh zeros and comes out varying, or the round sums it. Start from a value that varies, such as "
        "zeros_like of the weights that you cast, and sum after the loops.",
        3, error="manual axis types do not match"),
    WrongCost(
        "all-reduce-in-both-loops",
        "A reduction runs once for each layer of each microbatch. Perhaps the weights are replicated, so their gradient is "
        "reduced where it is computed.",
        1, when=lambda o: of.runs(o) == len(o.inputs[0]) * len(o.inputs[1]) and _stacked(o)),
    WrongCost(
        "all-reduce-each-microbatch",
        "A reduction runs once for each microbatch. Perhaps it is outside the loop over layers, but not outside that over "
        "microbatches.",
        2, when=lambda o: of.runs(o) == len(o.inputs[1]) and _stacked(o)),
    WrongCost(
        "all-reduce-each-layer",
        "A reduction runs for each layer. Perhaps the microbatches went through as one batch, which saves none of their "
        "memory, or the sum was reduced layer by layer.",
        2, when=lambda o: of.runs(o) == len(o.inputs[0]) and _stacked(o)),
    gathers("Every device receives all samples of the microbatches. Only gradients have to move."),
    WrongValues(
        "reduced-twice",
        "The gradients are n times too large. Perhaps the loops had already summed them, because the weights do not vary, "
        "and the last psum added n equal copies.",
        2, when=lambda o: times(o, of.stacked, lambda n: n)),
    WrongValues(
        "last-microbatch-only", "This is the gradient of the last microbatch alone. Perhaps each round replaces the "
        "gradients of the rounds before: add to them.",
        1, like=of.last_microbatch),
    WrongValues(
        "never-reduced", "Each device returned the sum over its own samples. The one reduction is missing.",
        2, local=of.stacked_own),
    promise("Each device's sum is over its own samples, so it varies, and out_specs promises equal copies. Reduce it "
            "once, after the loop."),
    WrongValues(
        "mean-instead-of-sum", "The gradients are too small by the number of devices or of microbatches. The loss is a sum, "
        "so terms of the gradient are added, not averaged.",
        1, when=lambda o: times(o, of.stacked, lambda n: 1 / n) or _averaged_over_microbatches(o)),
    WrongCost(
        "summed-after-the-reduction",
        "Every microbatch's gradient is kept and reduced, and the sums are added up afterwards. Add first: terms may be "
        "added.",
        2, when=lambda o: any(c.payload_bytes == len(o.inputs[1]) * o.inputs[0].nbytes for c in o.collectives)),
)  # fmt: skip


def _averaged_over_microbatches(o: Any) -> bool:
    return times(o, of.stacked, lambda n: 1 / len(o.inputs[1]))


def _stacked(o: Any) -> bool:
    return times(o, of.stacked, lambda n: 1)


QUESTION = Question(
    "10.4", "One all-reduce for fifteen gradients", difficulty=5, minutes=75,
    items=(
        ProgramItem("accumulate", {"V": 7, "S": 3.5, "H": 15.5}, oracle=of.stacked,
                    misconceptions=MICRO, tolerance=SUMS, most=1,
                    rtol=1e-4, atol=1e-4, cases=(of.microbatches(LINE, 3, 8, 5, 16), of.microbatches(PLANE, 2, 6, 4, 24)),
                    draw=of.draw_microbatches),
    ),
    hints=(
        "Where does the gradient of a replicated weight get its sum? Which type of weight leaves the sum to you?",
        "Cast the weights to reduced once, before the loop. Then their gradients are unreduced, and you may add unreduced "
        "arrays. Everything that you add must be unreduced.",
        "Reshard W to P(reduced={'data'}). As the accumulator, reshard zeros to P(unreduced={'data'}). Scan over (X, Y), "
        "and add jax.grad in each round. Reshard the total to P().",
    ),
    explanation="With replicated weights each backward step has to give a replicated gradient, so it sums at once, inside "
                "the loop over layers, which is inside the loop over microbatches. That is 15 all-reduces for 3 layers and "
                "5 microbatches. XLA for CPU leaves these sums in their loops. XLA for TPU and for GPU take them out of a "
                "single loop that only adds gradients up, but not out of these two loops.\n\nThe type does not depend on "
                "the compiler: the transpose of the free cast to reduced is the reduction, so the cast's place in the "
                "forward program is the reduction's place in the backward one. In between everything is unreduced. Few "
                "operations accept that, and the sum of two such arrays, which is all that accumulation needs, is one of "
                "them. In shard_map, a cast to varying before the loop and one psum after it do the same.",
)  # fmt: skip
