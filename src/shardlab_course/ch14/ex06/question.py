"""Chapter 14, exercise 14.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex06 import oracle as of
from shardlab_course.ch14.shared import PROMISE
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

GRID = (
    WrongValues(
        "in-numbered-order",
        "Rows were filled with devices in the order of their numbers; use the process that each device belongs to.",
        1, like=of.in_order),
    WrongValues(
        "local-by-hosts",
        "That is the mesh of local by hosts: it has as many columns as there are processes, filled with devices in the "
        "order of their numbers.",
        1, like=of.seed_mesh),
    WrongValues("hosts-as-columns", "Each process is a column here; it should be a row.", 2, like=of.turned),
    WrongValues(
        "first-come", "Rows come in the order of the processes' numbers, not in the order in which the processes first "
        "appear.",
        2, like=of.first_come),
)  # fmt: skip

GRADIENTS = (
    WrongCost(
        "activations-cross-hosts",
        "An array with rows of the batch goes from host to host: let each host keep its samples.",
        2, when=lambda o: of.multiplied(o, 1) and of.activations_cross(o)),
    WrongCost(
        "flat-data-parallel",
        "Sums over all eight devices take whole gradients, as in data parallelism, so these go through groups that cross "
        "the hosts' wires.",
        1, when=lambda o: of.multiplied(o, 1) and of.all_devices_sum_whole(o)),
    WrongCost(
        "whole-gradients-cross",
        "A device sends more than its part of the gradients to other hosts: cut them over local before they are summed "
        "over host.",
        2, when=lambda o: of.multiplied(o, 1) and of.whole_gradients_cross(o)),
    WrongValues(
        "summed-again",
        "The gradients are too large by a constant. Perhaps means of parts were added up, there is one sum over devices "
        "too many, or the loss has a factor of its own.",
        3, when=lambda o: any(of.multiplied(o, n) for n in {2, 4, 8})),
    WrongValues(
        "averaged-again",
        "The gradients are too small by a constant. Perhaps they were averaged over devices once too often, or the loss "
        "has a factor of its own.",
        3, when=lambda o: any(of.multiplied(o, 1 / n) for n in {2, 4, 8})),
    WrongValues(
        "sum-instead-of-mean", "The loss is the mean over samples and outputs; this is the gradient of the sum.",
        1, when=lambda o: of.multiplied(o, o.inputs[1].size)),
    WrongValues(
        "sum-over-outputs", "The loss is the mean over samples and outputs; this is the mean over samples only.",
        1, when=lambda o: of.multiplied(o, o.inputs[1].shape[1])),
    PROMISE,
    WrongCost(
        "left-in-pieces",
        "A device has only its part of the gradients; the exercise asks for whole ones, and within a host that is cheap.",
        3, when=lambda o: any(p.spec for p in o.placements) and of.multiplied(o, 1)),
)  # fmt: skip

QUESTION = Question(
    "14.6", "Which axis goes over hosts", difficulty=4, minutes=50,
    items=(
        CallsItem("grid", {"C": 3.5}, oracle=of.grid, misconceptions=GRID, draw=of.draw_processes,
                  calls=(([0, 0, 0, 0, 1, 1, 1, 1],), ([0, 1, 0, 1, 0, 1, 0, 1],), ([2, 0, 0, 1, 2, 1],))),
        ProgramItem("gradients", {"V": 1.75, "S": 1.75, "H": 7}, oracle=of.slopes, misconceptions=GRADIENTS,
                    rtol=1e-4, tolerance="float32 sums over the batch, in another order",
                    cases=(of.training(of.HOSTS, 256, 16, 56), of.training(of.SMALL_HOSTS, 320, 8, 48)),
                    draw=of.draw_training),
    ),
    hints=(
        "grid: a row is a host. gradients: which of the arrays that could move are small, and which grow with the batch?",
        "Samples stay on their host; hidden units are cut within a host. Then only gradients are summed between hosts, "
        "and each device has a part of them.",
        "In the loss, constrain X and Y to P('host'), W1 to P(None, 'local') and W2 to P('local', None); constrain the "
        "gradients to P() at the end.",
    ),
    explanation="Tensor parallelism sums activations in every layer. These bytes grow with the batch, and the next "
                "operation waits for them. Data parallelism sums gradients once a step, and their bytes are those of the "
                "weights. So cut the batch over the slow axis and the model over the fast one. Each device's gradients are "
                "then only a part, which makes the slow sum smaller again.\n\nIf you sum gradients by hand, and scatter "
                "them within the host first, you move as few bytes. Neither helps if the axis called host does not follow "
                "the hosts. So build the rows of the mesh from process_index and give them to jax.sharding.Mesh, which "
                "takes them as they are: jax.make_mesh permutes devices on TPUs. A mesh of local by hosts names the axes "
                "the other way round: its slow axis stays within a host.",
)  # fmt: skip
