"""Small exercises that work, to be changed into others: what a new one, or a new chapter, begins with."""

from __future__ import annotations

import dataclasses

HEAD = """\
\"\"\"Chapter {chapter}, exercise {id}: its declaration, and the misconceptions that it knows.\"\"\"

from __future__ import annotations

"""
LAST = """\
    explanation="Change this text. It is shown after passing, has 40 to 180 words, and says why the right answer is right "
                "and what the wrong ones would have cost. Here each device doubles the rows that it holds: nothing is "
                "summed, so no device needs anything from another, and the output lies as the input did.",
)  # fmt: skip
"""
ROWS_ORACLE = """\
\"\"\"Chapter {chapter}, exercise {id}: its oracle, and drawn cases.\"\"\"

from __future__ import annotations

import random

import numpy as np

from shardlab_judge.cases import Case, Input, axes


def doubled(x: np.ndarray) -> np.ndarray:
    \"\"\"Twice the array.\"\"\"
    return x + x


def rows_case(rows: int, columns: int, **mesh: int) -> Case:
    \"\"\"A matrix whose rows lie over x, as those of the output should.\"\"\"
    return Case(axes(**mesh), (Input((rows, columns), ("x", None)),), (("x", None),))


def drawn(rng: random.Random) -> Case:
    \"\"\"Another mesh, and other sizes.\"\"\"
    x = rng.choice((2, 4, 8))
    return rows_case(x * rng.randint(2, 9), rng.randint(3, 20), x=x, y=8 // x)
"""


@dataclasses.dataclass(frozen=True)
class Template:
    """An exercise's text, its modules `question` and `oracle`, and its answers; `{oracle}` imports the oracle as `of`."""

    exercise: str
    question: str
    oracle: str
    answers: str


PROGRAM = Template(
    exercise="""
<!-- exercise {id} -->

Write `twice(mesh, x)`: the double of `x`, whose rows lie over the mesh axis `x`. Nothing needs to move.

```{{code-cell}} ipython3
def twice(mesh, x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```

```{{code-cell}} ipython3
sl.check("{id}", twice)
```
""",
    question=HEAD
    + """\
{oracle}
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

QUESTION = Question(
    "{id}", "Twice as much", difficulty=1, minutes=5, optional=True,
    items=(
        ProgramItem(
            "twice", {{"V": 0.5, "S": 0.5, "H": 1}}, oracle=of.doubled, draw=of.drawn,
            cases=(of.rows_case(8, 6, x=4, y=2), of.rows_case(6, 10, x=2, y=4)),
            misconceptions=(
                WrongValues(
                    "adds-one", "One was added where the question asks for twice the value.", 1, like=lambda x: x + 1),
                WrongCost(
                    "gathers", "The output was asked for whole on every device, so the rows had to be gathered.", 2,
                    when=lambda o: o.price > 0),
            ),
        ),
    ),
    hints=(
        "What does a device need to know of the others to compute its own rows?",
        "An elementwise operation keeps the sharding of its operand.",
        "Multiply by two, and ask for no other sharding.",
    ),
"""
    + LAST,
    oracle=ROWS_ORACLE,
    answers="""\
import jax
from jax.sharding import NamedSharding

from shardlab_course.answers import right, wrong


@right
def adds_itself():
    def twice(mesh, x):
        return x + x


@wrong("adds-one", 0)
def adds_one():
    def twice(mesh, x):
        return x + 1


@wrong("gathers", 0.5)
def gathers():
    def twice(mesh, x):
        return jax.lax.with_sharding_constraint(2 * x, NamedSharding(mesh, jax.P()))
""",
)
MANUAL = Template(
    exercise="""
<!-- exercise {id} -->

Write `twice(mesh, x)` with `jax.shard_map`: the double of `x`, whose rows lie over the mesh axis `x`. Nothing needs to move.

```{{code-cell}} ipython3
def twice(mesh, x):
    ### BEGIN SOLUTION
    def body(block):
        return 2 * block

    rows = jax.P("x", None)
    return jax.shard_map(body, mesh=mesh, in_specs=rows, out_specs=rows)(x)
    ### END SOLUTION
```

```{{code-cell}} ipython3
sl.check("{id}", twice)
```
""",
    question=HEAD
    + """\
{oracle}
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

QUESTION = Question(
    "{id}", "Twice as much", difficulty=1, minutes=5, optional=True,
    items=(
        ProgramItem(
            "twice", {{"V": 0.5, "S": 0.5, "H": 1}}, oracle=of.doubled, draw=of.drawn, manual=True,
            cases=(of.rows_case(8, 6, x=4, y=2), of.rows_case(6, 10, x=2, y=4)),
            misconceptions=(
                LEFT,
                WrongValues(
                    "adds-one", "One was added where the question asks for twice the value.", 1, like=lambda x: x + 1),
                WrongCost(
                    "gathers", "All rows were brought to every device, and each device needs only its own.", 2,
                    when=lambda o: o.price > 0),
            ),
        ),
    ),
    hints=(
        "What does a device need to know of the others to compute its own rows?",
        "The body gets a block of rows and returns one: in_specs and out_specs are the same.",
        "The body multiplies its block by two, and sends nothing.",
    ),
"""
    + LAST,
    oracle=ROWS_ORACLE,
    answers="""\
import jax

from shardlab_course.answers import right, wrong


@right
def adds_itself():
    def twice(mesh, x):
        rows = jax.P("x")
        return jax.shard_map(lambda block: block + block, mesh=mesh, in_specs=rows, out_specs=rows)(x)


@wrong("left-to-the-compiler", 0)
def left_to_the_compiler():
    def twice(mesh, x):
        return 2 * x


@wrong("adds-one", 0)
def adds_one():
    def twice(mesh, x):
        rows = jax.P("x")
        return jax.shard_map(lambda block: block + 1, mesh=mesh, in_specs=rows, out_specs=rows)(x)


@wrong("gathers", 0.5)
def gathers():
    def twice(mesh, x):
        def body(block):
            return 2 * jax.lax.all_gather(block, "x", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P())(x)
""",
)
FUNCTION = Template(
    exercise="""
<!-- exercise {id} -->

Write `rows_each(rows, devices)`: the rows that one device holds of a matrix whose rows lie over so many devices, a divisor
of their number.

```{{code-cell}} ipython3
def rows_each(rows, devices):
    ### BEGIN SOLUTION
    return rows // devices
    ### END SOLUTION
```

```{{code-cell}} ipython3
sl.check("{id}", rows_each)
```
""",
    question=HEAD
    + """\
{oracle}
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

QUESTION = Question(
    "{id}", "Rows on a device", difficulty=1, minutes=5, optional=True,
    items=(
        CallsItem(
            "rows_each", {{"C": 1}}, oracle=of.rows_each, calls=((8, 4), (30, 5)), draw=of.drawn,
            misconceptions=(
                WrongValues(
                    "whole-array", "These are all rows; a device holds those of its own block.", 1,
                    like=lambda rows, devices: rows),
                WrongValues(
                    "all-copies", "Multiplied by the devices, every row is counted as often as there are devices.", 2,
                    like=lambda rows, devices: rows * devices),
            ),
        ),
    ),
    hints=(
        "Into how many blocks are the rows cut?",
        "The blocks are equally large, and together they have all rows.",
        "Divide the rows by the devices; both are whole numbers.",
    ),
    explanation="Change this text. It is shown after passing, has 40 to 180 words, and says why the right answer is right. "
                "Here the rows are cut into as many equal blocks as there are devices, so each device holds the rows "
                "divided by the devices, and nothing is held twice.",
)  # fmt: skip
""",
    oracle="""\
\"\"\"Chapter {chapter}, exercise {id}: its oracle, and drawn calls.\"\"\"

from __future__ import annotations

import random


def rows_each(rows: int, devices: int) -> int:
    \"\"\"The rows of the first device, counted.\"\"\"
    return sum(row * devices // rows == 0 for row in range(rows))


def drawn(rng: random.Random) -> tuple[int, int]:
    \"\"\"Rows, and a number of devices that divides them.\"\"\"
    devices = rng.randint(2, 9)
    return devices * rng.randint(2, 30), devices
""",
    answers="""\
from shardlab_course.answers import right, wrong


@right
def by_rounding():
    def rows_each(rows, devices):
        return round(rows / devices)


@wrong("whole-array", 0)
def all_rows():
    def rows_each(rows, devices):
        return rows


@wrong("all-copies", 0)
def multiplied():
    def rows_each(rows, devices):
        return rows * devices
""",
)


def modules(template: Template, chapter: int, id: str, oracle: str) -> dict[str, str]:
    """The files of an exercise's folder by name, with their texts.

    Args:
        oracle: the line that imports the oracle's module as `of`.
    """
    question = template.question.format(chapter=chapter, id=id, oracle=oracle)
    return {
        "question.py": question,
        "oracle.py": template.oracle.format(chapter=chapter, id=id),
        "answers.py": template.answers,
    }
