"""The beginning of a chapter of one's own: a text, a question and its answers that work, to be changed into others."""

from __future__ import annotations

import pathlib

from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_course.editions.edition import HEADER

DECLARATION = """\
{name} = Question(
    "{id}", "Twice as much", difficulty=1, minutes=5,
    items=(
        ProgramItem(
            "twice", {{"V": 0.5, "S": 0.5, "H": 1}}, oracle=lambda x: 2 * x,
            cases=(
                Case(axes(x=4, y=2), (Input((8, 6), ("x", None)),), (("x", None),)),
                Case(axes(x=2, y=4), (Input((6, 10), ("x", None)),), (("x", None),)),
            ),
            misconceptions=(
                Misconception(
                    "adds-one", "One was added where the question asks for twice the value.", 1, like=lambda x: x + 1),
                Misconception(
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
    explanation="Change this text. It is shown after passing, has 40 to 180 words, and says why the right answer is right "
                "and what the wrong ones would have cost. Here each device doubles the rows that it holds: nothing is "
                "summed, so no device needs anything from another, and the output lies as the input did.",
)  # fmt: skip
"""
EXERCISE = """
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
"""
ANSWERS = """\
import jax
from jax.sharding import NamedSharding
from variants import right, wrong


def twice(mesh, x):
    return 2 * x


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
"""
QUESTIONS = """\
\"\"\"Chapter {number}'s questions.\"\"\"

from __future__ import annotations

from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, Question

{declaration}
QUESTIONS: tuple[Question, ...] = ({name},)
"""
TEXT = """\
# {number}. {title}

What this chapter is about, and what one can do after it.

<!-- first cell -->

```{{code-cell}} ipython3
import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import AxisType, NamedSharding
```

## What it is about

Prose, and cells that show something.

```{{code-cell}} ipython3
:tags: [show]
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
sl.show(jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("x"))))
```
{exercise}"""


def write(folder: pathlib.Path) -> list[pathlib.Path]:
    """Make a chapter's folder; the files in it.

    Raises:
        ShardlabError: its name is no chapter's, or it is there already.
    """
    folder = folder.resolve()
    number = own.number(folder)
    if folder.exists():
        mend = "take another number or word, or change what is there."
        raise ShardlabError("chapter-exists", f"{folder.name} is there already.", where=str(folder), mend=mend)
    id, name = f"{number}.1", f"QUESTION_{number}_1"
    title = folder.name.partition("_")[2].replace("_", " ").capitalize()
    declaration = DECLARATION.format(name=name, id=id)
    answers = ANSWERS.replace("from variants import", "from shardlab_grader.own.answers import")
    texts = {
        f"{folder.name}.md": HEADER + TEXT.format(number=number, title=title, exercise=EXERCISE.format(id=id)),
        "questions.py": QUESTIONS.format(number=number, declaration=declaration, name=name),
        f"answers/{id}.py": answers,
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / path for path in texts]
