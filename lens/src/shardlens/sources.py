"""Lines of Python code: whose they are, and what they are called where cells have no file. No JAX here."""

from __future__ import annotations

import dataclasses
import functools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

_OURS = str(Path(__file__).parent)
_STANDARD = sysconfig.get_path("stdlib")
_SCRIPTS = tuple(
    sysconfig.get_path("scripts", scheme) + os.sep
    for scheme in (sysconfig.get_default_scheme(), f"{os.name}_user")
    if scheme in sysconfig.get_scheme_names()  # a Python in a browser has no users
)
"""Where an installer puts the scripts that start a package's commands: `shardlens`, `pytest`."""
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]|^<frozen")
_CELL = re.compile(r"ipykernel_\d+[/\\]|^<ipython-input")

LARGEST = 2**20
WRITER = "<student>"
"""In programs that came from elsewhere, the file of their writer's operations, with their numbers for lines."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a file or of a notebook's cell; line 0 of no file where it is not known."""

    file: str = ""
    number: int = 0

    def __str__(self) -> str:
        return f"{name_of_file(self.file)}:{self.number}" if self.file else ""

    @property
    def text(self) -> str:
        """What stands there, without its indentation; empty where the file is not here."""
        return self.whole.strip()

    @property
    def whole(self) -> str:
        """What stands there; of a file only where it is an ordinary one of no more than `LARGEST` bytes."""
        known = self.file in linecache.cache or os.path.isfile(self.file) and os.path.getsize(self.file) <= LARGEST
        return linecache.getline(self.file, self.number).rstrip() if known else ""


def users_line(frames: Iterable[Line]) -> Line:
    """The innermost line that is the user's, as `is_users` has it.

    Where all are of packages, the innermost of these.

    Args:
        frames: innermost first.
    Example:
        >>> str(users_line([Line("/venv/lib/site-packages/flax/linear.py", 7), Line("/home/me/model.py", 3)]))
        'model.py:3'
    """
    innermost = Line()
    for frame in frames:
        if frame.file and is_users(frame.file):
            return frame
        innermost = innermost if innermost.file else frame
    return innermost


def told(line: Line, most: int = 160) -> str:
    """A line in words: `line 3 of In[5]: return a @ b`, printable and of at most so many characters."""
    words = f"line {line.number} of {name_of_file(line.file)}" + (f": {line.text}" if line.text else "")
    words = "".join(c if c.isprintable() else " " for c in words)
    return words if len(words) <= most else words[: most - 3] + "..."


def is_users(file: str) -> bool:
    """Whether a file is in no installed package, starts none, is not of Python's library, and of no package that hides.

    Example:
        >>> is_users("/home/me/model.py"), is_users("/venv/lib/site-packages/flax/linear.py")
        (True, False)
    """
    return not _INSTALLED.search(file) and not file.startswith((_OURS, _STANDARD, *_SCRIPTS, *_hidden(len(sys.modules))))


@functools.lru_cache(maxsize=1)
def _hidden(modules: int) -> tuple[str, ...]:
    """Folders of packages that hide from tracebacks: they say `__tracebackhide__ = True`, as functions do to pytest."""
    found = (module for name, module in list(sys.modules.items()) if "." not in name)
    hidden = (module for module in found if getattr(module, "__dict__", {}).get("__tracebackhide__") is True)
    return tuple(str(Path(file).parent) for module in hidden if (file := getattr(module, "__file__", None)))


def name_of_file(file: str) -> str:
    """The name of a file; of a cell, what IPython calls it: `In[3]`; of a text that was compiled as `<name>`, its name.

    Example:
        >>> name_of_file("/home/me/model.py"), name_of_file("<script>")
        ('model.py', 'script')
    """
    if not _CELL.search(file):
        return file[1:-1] if file.startswith("<") and file.endswith(">") else PurePath(file).name
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    told = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    return str(told[1]) if told else "cell"
