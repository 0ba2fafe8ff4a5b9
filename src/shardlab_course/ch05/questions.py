"""Chapter 5's questions: sharding expressions."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch05 import misconceptions as wrong
from shardlab_course.ch05 import oracles as of
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.expression import ExpressionItem
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.rules import RulesItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
from shardlens import Axes, Spec, place

MATRIX, CUBE = (16, 24), (8, 4, 16)
GRID, EIGHTS, LINE = axes(x=2, y=4), axes(x=2, y=2, z=2), axes(x=8)
WIDE, TALL, ONE_REPLICA = axes(data=4, model=2), axes(data=2, model=4), axes(data=1, model=8)


def text(name: str, shape: tuple[int, ...], mesh: Axes, spec: Spec, on: Axes | None = None) -> ExpressionItem:
    """A spec to be written as an expression; with `on`, over the axes of that mesh."""
    return ExpressionItem(
        name, {"S": 0.25}, target=place(shape, mesh, spec), axes=on, misconceptions=wrong.EXPRESSIONS[name]
    )


def sharding(name: str, shape: tuple[int, ...], mesh: Axes, spec: Spec) -> PlacementItem:
    """An expression to be written as a mesh and a spec."""
    return PlacementItem(name, {"S": 0.25}, target=place(shape, mesh, spec), misconceptions=wrong.SPECS[name])


BOTH_WAYS = Question(
    "5.1", "Both ways", difficulty=2, minutes=30, variable="translations",
    items=(
        text("a", MATRIX, GRID, ("y", "x")), text("b", MATRIX, GRID, ("y",)), text("c", MATRIX, EIGHTS, (("x", "z"), "y")),
        text("d", MATRIX, GRID, ()), text("e", MATRIX, WIDE, (("model", "data"),), WIDE),
        text("f", CUBE, WIDE, (None, None, "model"), WIDE),
        sharding("g", MATRIX, GRID, (None, "y")), sharding("h", MATRIX, axes(x=4, y=2), ("x", "y")),
        sharding("i", MATRIX, EIGHTS, (("x", "z"), "y")), sharding("j", CUBE, axes(x=4, y=2), (None, None, "y")),
        sharding("k", (16, 4, 6), WIDE, (("data", "model"),)), sharding("l", MATRIX, axes(x=4, y=2), (None, "y")),
    ),
    hints=(
        "Write the mesh axes in a row, slowest first. Which dimension does each of them cut, and which cuts none?",
        "That row is the right side: a dimension's name with the size of the axis, or a bare number where the axis makes "
        "copies. Dimensions that nothing cuts stand there with their name alone.",
        "For a: the first axis has size 2 and cuts the second dimension; the next has size 4 and cuts the first. For h "
        "and l find the ratio of the stars before anything else.",
    ),
    explanation="The right side of an expression is the mesh, read from slow to fast, and each word says what its axis "
                "does: a name cuts that dimension, a bare number makes copies. So order matters on the right, as it does "
                "in a mesh, and it means nothing else: in a spec you find the order in the mesh, and who cuts what in P.\n\n"
                "P('y') on a 2 by 4 mesh is `2 r4 c`, not `r4 2 c`: with copies last, devices 0 and 1 would hold the "
                "same. A repeated name is a tuple in P, with the axes in the order of the mesh; another order has to name "
                "the axes of a mesh with @. Stars share one ratio, the whole root of what the numbers leave: `r2* c*` on "
                "8 devices is `r4 c2`.",
)  # fmt: skip

MINI_CALLS: tuple[tuple[Any, ...], ...] = (
    ("a b -> a2 b3", 8), ("a b -> 2 b4 a", 8), ("a b -> * a* b*", 8), ("a -> a4*", 8), ("a b -> a* b*", 8),
    ("r c -> r2 c2 r2", 8), ("a -> a2", 8), ("a b -> a3 b*", 8), ("a b c -> a2* b2 c*", 16), ("a b c -> a* b* c*", 64),
    ("a b -> a4 c2", 8), ("batch d -> batch* d", 1), ("a b -> a4", 8), ("a -> a2 b3", 8), ("a b -> a2* b2* 3", 48),
    ("a b -> a12 b*", 24),
)  # fmt: skip

MINI = Question(
    "5.2", "A small einshard", difficulty=3, minutes=45, optional=True,
    items=(
        CallsItem("make_spec", {"V": 3}, oracle=of.make_spec, calls=MINI_CALLS, draw=of.draw_expression, drawn=60,
                  misconceptions=wrong.MINI),
    ),
    hints=(
        "Three steps: read each word as (name, number, star); find the one ratio that all stars share; collect, for each "
        "name on the left, the positions of its words.",
        "Multiply all numbers, starred or not. The device count divided by that product is the ratio to the power of the "
        "number of stars. Whole numbers only.",
        "re.fullmatch(r'([a-z]*)(\\d*)(\\*?)', word) takes a word apart. To find the root, try r = 1, 2, 3, ... and "
        "compare r to the power of stars with the share.",
    ),
    explanation="Reading, counting and placing are three steps, and only the second is arithmetic. With k stars the sizes "
                "multiply to (product of all numbers) times r to the power k, and that must be the device count, so r is "
                "a whole k-th root. Whole is meant literally: 64 ** (1 / 3) is 3.9999999999999996 in floating point, and "
                "a program that trusts it finds no mesh for three stars on 64 devices, although 4 by 4 by 4 is one. "
                "The package that this language goes back to had that fault. The grader's oracle computes no root: it "
                "tries every ratio. Notice what your function never needed: a device, an array, or JAX.",
)  # fmt: skip

RULES = Question(
    "5.3", "A table for a transformer", difficulty=3, minutes=35,
    items=(
        RulesItem("rules", {"S": 2, "M": 1}, wanted=of.megatron, draw=of.draw_tree, drawn=3,
                  misconceptions=wrong.RULES, trees=(
            of.tree(2, TALL, vocabulary=96, width=32, heads=8, hidden=128),
            of.tree(3, WIDE, vocabulary=64, width=24, heads=4, hidden=48),
        )),
    ),
    hints=(
        "A pattern is found anywhere in the path, and the first rule that finds its pattern decides. Print the dry run, and "
        "look at each line's expression.",
        "Seven kinds of leaves: the embedding; q, k and v; o; up's kernel; up's bias; down's kernel; all others. One rule "
        "for each, the others last.",
        "'[qkv]/kernel' finds three kernels and nothing else. For 'up' say 'up/kernel' and 'up/bias'. The last pattern is "
        "'.*' with '... -> ...'.",
    ),
    explanation="The kernels come in pairs: q, k, v and up cut what goes out of them over 'model', o and down cut what "
                "comes in. Between the two of a pair everything is local to a device, and after each pair stands one sum. "
                "A bias lies like the output that it is added to: up's is cut, down's is whole. Norms act on the whole "
                "width, so their scales stay whole.\n\nSince the expressions name axes, the same table serves every mesh; "
                "and since a rule names kinds of leaves, it serves any number of layers. What can go wrong is order and "
                "reach: the first match decides, and a pattern is found wherever it stands, 'k' in 'blocks' as well. "
                "einshard refuses tables with a leaf without rule or a rule without leaf, because either is nearly always "
                "a slip.",
)  # fmt: skip

DEGREE = Question(
    "5.4", "From degree 2 to degree 4", difficulty=2, minutes=15,
    items=(
        ValueItem("kinds", {"P": 0.5}, predicted=True, key=["all-reduce"], members=KINDS, misconceptions=wrong.KINDS),
        ValueItem("factor", {"P": 0.25}, predicted=True, key=2, misconceptions=wrong.FACTOR),
        wrong.MECHANISM,
        LayoutItem("layout", {"S": 0.5, "H": 0.5, "M": 0.5}, function=of.mlp,
                   misconceptions=wrong.BOTH, draw=of.draw_on_mesh,
                   reference={"X": "b x -> b@data x", "W1": "x y -> x y@model", "W2": "y z -> y@model z"},
                   cases=(of.sizes(8, 128, 256, 64, axes=WIDE), of.sizes(8, 128, 256, 64, axes=TALL),
                          of.sizes(8, 128, 256, 64, axes=ONE_REPLICA))),
    ),
    hints=(
        "Which numbers in the three expressions have to change together? Where could they stand once?",
        "The mesh has the sizes. An expression that names its axes with @ has no number, and needs none.",
        "In each expression replace the number of replicas by @data and the degree by @model; axes that an expression "
        "does not name make copies, so bare numbers go.",
    ),
    explanation="With numbers, the degree and the number of replicas stand in each expression, and all of them must "
                "change at once; forget one expression, and the program is still right, at another price. "
                "With names, the expressions say which dimension goes with which role, and the mesh alone says how many "
                "devices have the role. XLA, for CPU and for TPU, makes one all-reduce either way, over 'model'. But "
                "its size follows the other axis: a device adds up the output rows of its data shard, 8 / 4 of them "
                "before and 8 / 2 after, so twice the bytes. The weights that a device holds are halved for it.",
)  # fmt: skip

SAYABLE = {"a": "numbers", "b": "axes", "c": "axes", "d": "axes", "e": "nothing", "f": "axes", "g": "numbers",
           "h": "numbers", "i": "numbers"}  # fmt: skip

LIMITS = Question(
    "5.5", "What expressions cannot say", difficulty=2, minutes=15, optional=True,
    items=(
        ValueItem("said", {"P": 2}, predicted=True, key=SAYABLE, words=("numbers", "axes", "nothing"),
                  misconceptions=wrong.SAYABLE),
        PlacementItem("backwards", {"S": 0.5}, target=place((16, 4), LINE, ("x",), range(7, -1, -1)),
                      misconceptions=wrong.BACKWARDS),
    ),
    hints=(
        "Numbers cut all devices, in the order of jax.devices(), into equal groups. Which of the nine are not made like "
        "that?",
        "A mesh may have fewer devices, or another order, and @ names its axes. A mesh may even have one device. But "
        "neither numbers nor axes say that slices are terms of a sum.",
        "For the placement: build the mesh from the reversed list of devices, then an expression that cuts the rows over "
        "its one axis.",
    ),
    explanation="An expression says how dimensions go with mesh axes. Which devices make up the mesh, and in which "
                "order, is said by the mesh; numbers alone take all of them as they come. So a permuted or smaller "
                "mesh needs @ and the mesh beside it, and so does a tuple whose axes are not in the mesh's order. "
                "An array on one device names no mesh, and sl.expression says so; on a mesh of that device it has an "
                "expression. One thing has none at all: a partial sum is not a placement. The slices are all there, and "
                "still have to be added by some computation.",
)  # fmt: skip

WEIGHTS = {"W1": "x y -> x y*", "W2": "y z -> y* z"}
COPIES = "... -> * ..."
SITUATIONS = (of.sizes(8, 128, 256, 64), of.sizes(8, 64, 160, 40, devices=4))
ALL = {"S": 0.5, "H": 0.5, "M": 0.5, "F": 0.5}

NETWORK = Question(
    "5.6", "One network, three ways", difficulty=3, minutes=40,
    items=(
        LayoutItem("data_parallel", ALL, function=of.mlp, cases=SITUATIONS, draw=of.draw_sizes,
                   reference={"X": "b x -> b* x", "W1": COPIES, "W2": COPIES}, misconceptions=wrong.DATA),
        LayoutItem("tensor_parallel", ALL, function=of.mlp, cases=SITUATIONS, draw=of.draw_sizes,
                   reference={"X": COPIES, **WEIGHTS}, misconceptions=wrong.TENSOR),
        ProgramItem("mlp_on", {"V": 0.5, "S": 0.5, "H": 0.5, "F": 0.5}, oracle=of.network, draw=of.draw_network,
                    cases=(of.network_case(TALL, 8, 64, 128, 24), of.network_case(WIDE, 16, 48, 64, 40),
                           of.network_case(TALL, 16, 48, 64, 80)), rtol=1e-4,
                    atol=1e-4, tolerance="float32 sums of up to 256 terms in another order", misconceptions=wrong.INSIDE),
    ),
    hints=(
        "For each way ask of every letter, b, x, y and z, whether it is cut. Data parallel cuts one letter, tensor parallel "
        "another, both cut two.",
        "Data parallel: b, and weights as copies. Tensor parallel: y, in W1 and in W2 alike, and X as copies. Use stars, "
        "since the number of devices changes.",
        "In `mlp_on` name axes: b@data in X, y@model in both weights. Constrain the three arguments, compute, and "
        "constrain the output to b@data.",
    ),
    explanation="Three of four letters, three fates. Cut b, and every device needs all weights and nothing moves. Cut y in "
                "both weights, and each device has a slice of the hidden layer; its product with W2 is a partial sum "
                "of the output, added by one all-reduce of f32[8,64]: 2048 bytes of payload, 4096 by our price. Cut "
                "x instead, and the sum comes one layer too early, at f32[8,256]: four times as much.\n\nIf only W1 is "
                "cut, XLA, for CPU and for TPU, lets each device take its rows of a whole W2 at the sizes here, and "
                "compiles the same all-reduce; what differs is the memory, which is why it is checked. With both axes the "
                "all-reduce covers the rows of one data shard only: on data=2, model=4 half of the bytes.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (BOTH_WAYS, MINI, RULES, DEGREE, LIMITS, NETWORK)
