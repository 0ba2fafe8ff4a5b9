"""Shardlab: see, predict and check what a parallel JAX program does.

import shardlab as sl
sl.setup(8)                  # 8 devices, real or simulated
sl.show(x)                   # who holds which slice
sl.inspect(f, *args)         # what the compiler made of it
sl.why(f, *args)             # why it communicates, line by line
sl.check(4.2, answer)        # right, or what differs and why
sl.hint()                    # the next hint of the exercise that was checked last
sl.explain()                 # why its solution works, once it is passed
sl.viva()                    # questions about your own program, once the exercise is passed
sl.diagnose(error)           # what an error of JAX means, and how to mend it
sl.explain_errors(False)     # no explanation below tracebacks any more
sl.progress()                # what is done, and what comes next; sl.progress(4) for chapter 4

The public names stand once, in `__init__.pyi`. Those of the lens are its own, handed on.
"""

from importlib import import_module
from typing import Any

from shardlab.recording import recording as _boxed
from shardlens import handed_on, public_names

__version__ = "0.1.0"
__tracebackhide__ = True  # our lines are not the user's: see `shardlens.sources.is_users`

_NAMES = public_names(__name__)


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: `import shardlab` alone costs next to nothing."""
    if name == "pictures":
        return import_module("shardlab.pictures")
    module = _NAMES.get(name, "")
    if module.startswith("shardlab_course."):
        # The only names that look up to the course. Where a class is graded it is not there, and `in_the_box` answers for
        # it; not kept, for a notebook that is graded in this process gets another one.
        return getattr(import_module("shardlab.answers.in_the_box" if _boxed() else module), name)
    if not module and name in dir(import_module("shardlab.pictures")):
        if _boxed():
            return getattr(import_module("shardlab.pictures"), name)  # notebooks that were released before it moved
        raise AttributeError(f"sl.{name} has moved: write sl.pictures.{name}.")
    if not module:
        near = import_module("difflib").get_close_matches(name, __dir__(), n=1)
        raise AttributeError(
            f"module 'shardlab' has no attribute {name!r}" + "".join(f"; the nearest name is {each!r}" for each in near)
        )
    return handed_on(__name__, name)


def __dir__() -> list[str]:
    return sorted({*_NAMES, "pictures", "__version__"})
