"""What the commands share: options, a console, the course to oneself, mistakes shown without a traceback."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shlex
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any, get_args

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from shardlab.errors import ShardlabError
from shardlab_grader import statuses
from shardlab_grader.classes import faults
from shardlab_grader.plain import plain
from shardlab_grader.records import lock
from shardlab_grader.sandbox.box import Mode

FOLDER = click.Path(file_okay=False, path_type=pathlib.Path)
FILE = click.Path(dir_okay=False, path_type=pathlib.Path)
WIDTH = 140
"""Of tables that go to a file or a pipe."""
IN_BOX = "Where code runs; with none, nothing is isolated, and every verdict records it."
NAMED = "Show students' names in place of the submissions' keys. (Always: set SHARDLAB_NAMES=1.)"
course_option = click.option(
    "--course", "course_dir", type=FOLDER, default=".", show_default=True, help="nbgrader's course directory."
)
sandbox_option = click.option(
    "--sandbox", "mode", type=click.Choice(get_args(Mode)), default="bubblewrap", show_default=True, help=IN_BOX
)
wait_option = click.option(
    "--wait/--no-wait", default=True, help=f"Wait for another command on this course, or stop with status {statuses.BUSY}."
)
names_option = click.option("--names", is_flag=True, envvar="SHARDLAB_NAMES", help=NAMED)


class PlainConsole(Console):
    """Prints nothing that the terminal or rich would obey, except rich's own colours: students choose names of folders."""

    def print(self, *objects: Any, **rest: Any) -> None:
        super().print(*(escape(one) if isinstance(one, str) else one for one in objects), **rest)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text, keep="\n"))


console = PlainConsole(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


class Steps:
    """Tells on the screen, beside what a command prints, which step begins, and after how many seconds."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, step: str) -> None:
        print(plain(f"{time.monotonic() - self._started:4.0f} s  {step}", keep="\n"), file=sys.stderr, flush=True)


def typed(command: str, course_dir: pathlib.Path) -> str:
    """A command of ours for this course, as it is typed in the folder where the reader is."""
    option = "" if course_dir.resolve() == pathlib.Path.cwd() else f" --course {shlex.quote(os.path.relpath(course_dir))}"
    return f"shardlab-grader {command}{option}"


def alone(course_dir: pathlib.Path, command: str, wait: bool) -> contextlib.AbstractContextManager[None]:
    """The course directory to oneself; says for whom it waits."""
    return lock.held(course_dir, command, wait=wait, told=lambda holder: console.print(f"waiting: {holder} has the course"))


@contextlib.contextmanager
def mended(stopped: str = "stopped.") -> Iterator[None]:
    """Show a mistake that its reader can mend without a traceback.

    Args:
        stopped: what is said where Ctrl-C ends the command.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except ShardlabError as error:
        print(plain(str(error), keep="\n"), file=sys.stderr)
        sys.exit(statuses.REFERENCES.get(error.reference, statuses.MEND))
    except OSError as error:
        print(plain(str(faults.refused(error)), keep="\n"), file=sys.stderr)
        sys.exit(statuses.MEND)
    except KeyboardInterrupt:
        print(stopped, file=sys.stderr)
        sys.exit(statuses.STOPPED)
    except Exception as error:
        if type(error).__module__.startswith("sqlalchemy") and getattr(error, "orig", None) is not None:
            print(plain(str(faults.of_gradebook(error)), keep="\n"), file=sys.stderr)
            sys.exit(statuses.MEND)
        traceback.print_exc()
        print(f"\n{faults.ours()}", file=sys.stderr)
        sys.exit(statuses.OURS)
