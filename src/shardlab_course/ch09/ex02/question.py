"""Chapter 9, exercise 9.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex02 import oracle as of
from shardlab_course.ch09.shared import LINE, MESHES, PROMISE, ROUNDING, TALL, drawing, mlp, moves_weights
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

SPREAD = (
    WrongValues(
        "sum-over-the-wrong-axis", "Every value is the right one times the devices along an axis. Perhaps equal copies were "
        "added: the terms differ along `model` alone, so add them once, over `model`.", 2, when=of.multiplied),
    WrongProgram(
        "sum-over-the-wrong-axis", "The terms differ along `model` alone. A sum over another axis, or a second sum over "
        "`model`, counts equal copies again.", 2, error="psum can only accept axis_name"),
)  # fmt: skip

MLP = (
    WrongCost(
        "weights-gathered", "This program sends whole weights. An in_spec without `model` asks for all of a weight, and "
        "so does an all-gather. Leave the weights where they are.", 2, when=moves_weights),
    LEFT, *SPREAD,
    WrongValues(
        "term-returned", "Each device returns the term of its own hidden units, and nothing adds the terms up. JAX "
        "reports this for out_specs=P() while its check is on.", 1, local=lambda at, X, W1, W2: mlp(X, W1, W2)),
    WrongValues(
        "adds-finished-columns", "A sum stands after W1. There each device has different columns of the hidden layer, "
        "all of them finished, and a sum of different columns means nothing.", 2, when=of.columns_summed),
    WrongValues("relu-forgotten", "There is no relu between the two products.", 1, like=lambda X, W1, W2: X @ W1 @ W2),
    WrongValues(
        "mean-instead-of-sum", "Every value is an n-th of the right one, for n devices along `model`. Perhaps pmean divided "
        "by n: the terms of a product have to be added.", 1,
        when=of.averaged),
    PROMISE,
)  # fmt: skip
THREE = (
    WrongCost(
        "weights-gathered", "This program sends whole weights. Leave them where they are, and move what is computed.", 2,
        when=moves_weights),
    LEFT,
    WrongValues(
        "relu-before-sum", "relu was applied to terms. It drops what is negative in one term even where the sum is "
        "positive, so add first.", 1, when=of.relu_on_terms),
    WrongValues(
        "relu-forgotten", "The second product needs a relu too, after its terms are added up.", 1,
        like=lambda X, W1, W2, W3: mlp(X, W1, W2) @ W3),
    WrongValues(
        "goes-on-with-terms", "The terms of the second product were never added up. Each device continued with columns of "
        "its own term.", 1, when=of.never_summed),
    WrongCost(
        "reduces-all-columns", "An all-reduce after W2 gives every device all columns. W3 by rows needs only the device's "
        "own columns, so half of the price buys nothing.", 3, when=of.all_of_second),
    PROMISE,
)  # fmt: skip

QUESTION = Question(
    "9.2", "The block by hand", difficulty=3, minutes=45,
    known_as="Megatron-LM's column-parallel and row-parallel layers (Shoeybi and others, 2019)",
    items=(
        ProgramItem("mlp_by_hand", {"V": 1.75, "S": 1.75, "H": 1.75}, oracle=mlp, names=of.mlp_steps, manual=True,
                    misconceptions=MLP,
                    rtol=1e-4, atol=1e-4, tolerance=ROUNDING, draw=drawing(of.mlp_case, MESHES, 3),
                    cases=(of.mlp_case(LINE, 16, 24, 96), of.mlp_case(TALL, 8, 24, 80))),
        ProgramItem("three_layers", {"V": 3.5, "S": 1.75, "H": 3.5}, oracle=of.three_layers, names=of.three_steps,
                    manual=True,
                    misconceptions=THREE,
                    rtol=2e-4, atol=2e-4, tolerance=ROUNDING + ", twice", draw=drawing(of.three_case, MESHES, 4),
                    cases=(of.three_case(LINE, 16, 24, 96, 64), of.three_case(TALL, 8, 16, 80, 48))),
    ),
    hints=(
        "Ask after each product: are these numbers finished, or are they terms? relu needs finished numbers.",
        "mlp_by_hand: one psum over 'model', after the second product. three_layers: one sum after the second product, "
        "and one after the third. Which columns does a device need after the second?",
        "For three_layers: jax.lax.psum_scatter over 'model' with scatter_dimension=1 and tiled=True adds the terms up "
        "and leaves each device its own columns, ready for its rows of W3.",
    ),
    explanation="In mlp_by_hand the hidden layer is cut by columns, so relu is local, and the one psum comes last. In "
                "three_layers the second product gives terms, and relu must wait: relu(a) + relu(b) is relu(a + b) only "
                "where a and b do not have opposite signs. But no device needs all columns of the sum, because W3 by rows "
                "needs only the device's own.\n\nSo a reduce-scatter along the columns is enough. With E columns in the "
                "second layer its price is T·E·4 bytes, half that of an all-reduce, as XLA for CPU compiles it. Its "
                "output is cut exactly as the first layer's output was. So the cuts are: by columns, by rows, and after a "
                "scatter by rows again. A test with positive numbers cannot detect a misplaced relu, because relu does "
                "nothing there.",
)  # fmt: skip
