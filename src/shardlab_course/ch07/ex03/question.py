"""Chapter 7, exercise 7.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch07.ex03 import oracle as of
from shardlab_course.ch07.shared import LINE, MESHES, PROMISE, WIDE, drawing, each, same, shape
from shardlab_course.shared.kinds import ERRORS
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongValues

CHECKED = (
    WrongValues(
        "lie-not-noticed",
        "The block's type says that it varies over x, and out_specs deny it. JAX refuses that, whatever the values are.", 1,
        like=lambda got: got != "ValueError"),
)  # fmt: skip
UNCHECKED = (
    WrongValues(
        "gathered-for-you",
        "Nothing brings the blocks together: the output has the shape of one block.", 1, like=lambda got: len(got) == 16),
    WrongValues(
        "last-shard-shown", "The eight blocks differ, and NumPy gets the first device's.", 1,
        like=[14.0, 15.0]),
    WrongValues("out-specs-sums", "out_specs add nothing up.", 1, like=[56.0, 64.0]),
)  # fmt: skip
HOLDERS = (
    WrongValues(
        "believes-the-sharding",
        "The sharding says that all eight hold the same block. It only repeats what out_specs claimed; nothing checked the "
        "claim.", 2, like=8),
)  # fmt: skip
HONEST = (
    PROMISE, LEFT,
    WrongValues(
        "first-shard-only",
        "The output has the shape of one block. With the check off, each device returned its own block, and the first one "
        "is shown.", 1, when=of.own_blocks),
    WrongCost(
        "blocks-repeated",
        "Each device returned the whole vector, and out_specs set these copies side by side. With P() one copy is taken.", 1,
        when=lambda o: each(o, lambda d: o.inputs[0]) and shape(o) != o.inputs[0].shape),
    WrongCost(
        "sums-padded-blocks",
        "Blocks were padded to full length and then added up. The price of an all-reduce is twice that of a gather.", 2,
        when=lambda o: same(o, o.inputs[0]) and o.kinds == {"all-reduce"}),
)  # fmt: skip

MECHANISM = why(
    "What does `out_specs=P()` do without the check?",
    a=Believed(
        "It makes one array of the blocks: it puts them together, or adds them up.",
        "out-specs-act",
        "The output is as long as one block and has the numbers of the first one. Nothing was put together, and nothing "
        "was added.",
    ),
    b="It claims that all devices hold the same block, and nothing checks the claim.",
    c=Believed(
        "It gives the first block to all devices.",
        "first-is-copied",
        "The picture marks the devices that hold another block. Nobody gave them the first one.",
    ),
)

QUESTION = Question(
    "7.3", "A promise that nobody keeps", difficulty=2, minutes=20,
    items=(
        ValueItem("checked", {"P": 1}, predicted=True, key="ValueError", pattern=ERRORS, also=([0.0],),
                  misconceptions=CHECKED),
        ValueItem("unchecked", {"P": 1}, predicted=True, key=[0.0, 1.0], misconceptions=UNCHECKED),
        ValueItem("true_on", {"P": 0.5}, predicted=True, key=1, misconceptions=HOLDERS),
        MECHANISM,
        ProgramItem("honest", {"V": 1, "S": 1, "H": 1}, oracle=lambda x: x, misconceptions=HONEST, manual=True,
                    cases=(of.vector_case(LINE, 16), of.vector_case(WIDE, 40)), draw=drawing(of.vector_case, MESHES, 8)),
    ),
    hints=(
        "The body returns its block. What shape does the block have? What does P() say about the eight blocks, and is it "
        "true?",
        "NumPy reads an array with sharding P() from one device, because all the others are said to hold the same values.",
        "jax.lax.all_gather(block, 'x', tiled=True, to='invarying') brings the blocks together, and its type says that "
        "every device holds the same array.",
    ),
    explanation="The block's type is f32[2]{V:x}: it may vary over x. out_specs=P() says that it does not, so JAX refuses, "
                "whatever the values are: under jit while it traces, without jit when the body has run.\n\nWith "
                "check_vma=False JAX does not keep these types, and the program runs. Each device returns its own block. "
                "The array gets the shape of one block and a sharding that claims eight equal copies. NumPy reads the first "
                "one, [0, 1], which is on one device of eight. There is no error and no warning, and the next computation "
                "goes on with eight different arrays under one name. The honest program gathers. to='invarying' is not a "
                "switch that silences a check: an all-gather does give every device the same array, and to='invarying' puts "
                "this into the type.",
)  # fmt: skip
