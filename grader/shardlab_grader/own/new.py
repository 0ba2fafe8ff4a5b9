"""The beginning of a chapter of one's own: a text and an exercise that work, to be changed into others."""

from __future__ import annotations

import pathlib

from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_course.editions.edition import HEADER
from shardlab_grader.own.templates import PROGRAM, modules

TEXT = """\
# {number}. {title}

What this chapter is about, and what you can do after it.

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
        ShardlabError: its name is no chapter's, or it already exists.
    """
    folder = folder.resolve()
    number = own.number(folder)
    if folder.exists():
        mend = "take another number or word, or change what is there."
        raise ShardlabError("chapter-exists", f"{folder.name} already exists.", where=str(folder), mend=mend)
    id = f"{number}.1"
    title = folder.name.partition("_")[2].replace("_", " ").capitalize()
    exercise = PROGRAM.exercise.format(id=id)
    texts = {f"{folder.name}.md": HEADER + TEXT.format(number=number, title=title, exercise=exercise)}
    texts |= {f"ex01/{name}": text for name, text in modules(PROGRAM, number, id, "from . import oracle as of\n").items()}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / path for path in texts]
