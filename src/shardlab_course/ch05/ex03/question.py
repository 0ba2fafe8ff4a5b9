"""Chapter 5, exercise 5.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch05.ex03 import oracle as of
from shardlab_course.ch05.shared import TALL, WIDE
from shardlab_judge.items.rules import RulesItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

RULES = (
    WrongProgram(
        "general-rule-first", "The first rule that matches decides. Here a rule above takes all leaves that the unused rule "
        "should get. Put special rules before general ones. Perhaps the rule above also finds more than it should: 'k' and "
        "'o' are in 'blocks'.", 1, error="rule-never-used(?s:.)*earlier rule"),
    WrongProgram(
        "pattern-finds-nothing", "No path contains this pattern. Compare the pattern, letter by letter, with the paths in "
        "the dry run.", 1, error="rule-never-used"),
    WrongProgram(
        "leaf-forgotten", "Some leaves match no rule. Say for these leaves too whether they are cut or whole.",
        1, error="leaf-without-rule"),
    WrongProgram(
        "pattern-found-elsewhere", "This leaf and its rule have different numbers of dimensions. Perhaps the rule is meant "
        "for another leaf. A pattern is found anywhere in the path: 'k' is in 'blocks', 'up' finds a kernel and a bias.",
        2, error="rank-does-not-fit"),
    WrongValues(
        "nothing-cut", "No leaf is cut, so every device holds the whole model.", 2,
        like=lambda cuts: all(set(parts) <= {1} for parts in cuts.values())),
    WrongValues(
        "up-by-rows", "The second dimension of up is the hidden width. Cut that dimension, as down cuts its first.", 3,
        like=of.any_leaf("up/kernel", (1, 0))),
    WrongValues(
        "down-by-columns", "down gets what up has cut, so cut the rows of down like the columns of up.", 3,
        like=of.any_leaf("down/kernel", (0, 1))),
    WrongValues(
        "heads-not-cut", "In q, k and v the heads are the second dimension. Here the width is cut, and every head needs all "
        "of the width.", 2, like=lambda cuts: any(of.any_leaf(f"{name}/kernel", (1, 0, 0))(cuts) for name in "qkv")),
    WrongValues(
        "o-by-columns", "o gets the heads that q, k and v have cut. They are its first dimension, not its last.", 3,
        like=of.any_leaf("o/kernel", (0, 0, 1))),
    WrongValues(
        "bias-left-whole", "The bias of up is added to columns that are cut over 'model', so it is cut with them.", 3,
        like=of.any_leaf("up/bias", (0,))),
    WrongValues(
        "bias-cut-too-much", "The bias of down is added to the whole width, after the sum. So it stays whole.", 3,
        like=of.any_leaf("down/bias", (1,))),
    WrongValues(
        "embedding-by-columns", "The vocabulary is the first dimension of the table. Here the width is cut.", 2,
        like=of.any_leaf("embed/table", (0, 1))),
    WrongValues(
        "scale-cut", "A norm acts on the whole width, so its scale stays whole.", 2, like=of.any_leaf("/scale", (1,))),
)  # fmt: skip

QUESTION = Question(
    "5.3", "A table for a transformer", difficulty=3, minutes=35,
    items=(
        RulesItem("rules", {"S": 7, "M": 3.5}, wanted=of.megatron, draw=of.draw_tree, drawn=3,
                  misconceptions=RULES, trees=(
            of.tree(2, TALL, vocabulary=96, width=32, heads=8, hidden=128),
            of.tree(3, WIDE, vocabulary=64, width=24, heads=4, hidden=48),
        )),
    ),
    hints=(
        "A pattern is found anywhere in the path, and the first rule that finds its pattern decides. Print the dry run, and "
        "look at each line's expression.",
        "There are seven kinds of leaves: the embedding; q, k and v; o; up's kernel; up's bias; down's kernel; all "
        "others. Write one rule for each, and the rule for the others last.",
        "'[qkv]/kernel' finds three kernels and nothing else. For 'up' say 'up/kernel' and 'up/bias'. The last pattern is "
        "'.*' with '... -> ...'.",
    ),
    explanation="The kernels come in pairs. q, k, v and up cut their outputs over 'model'; o and down cut their inputs. "
                "Within a pair everything is local to a device, and after each pair there is one sum. A bias is cut like "
                "the output that it is added to: up's is cut, down's is whole. Norms act on the whole width, so their "
                "scales stay whole.\n\nThe expressions name axes, so one table serves every mesh. A rule names kinds of "
                "leaves, so the table serves any number of layers. Order and reach can go wrong. The first match decides, "
                "and a pattern is found anywhere in a path, so 'k' is found in 'blocks'. `sl.einshard` refuses a table if a "
                "leaf has no rule or a rule has no leaf, because either is nearly always a mistake.",
)  # fmt: skip
