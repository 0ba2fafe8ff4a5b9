"""How commands end: the one list of exit statuses, for `--help`, the instructor's guide and scripts."""

from __future__ import annotations

DONE, MEND, USAGE, LOOK, NOTHING = range(5)
OURS, BUSY = 70, 75
"""As in sysexits.h: a fault of the program's own, and try again later."""
STOPPED = 130
"""As shells have it of Ctrl-C."""
MEANINGS = {
    DONE: "done; for `grade`: everything is graded",
    MEND: "stopped by something that you can mend; the message says how",
    USAGE: "the command line has a mistake",
    LOOK: "a person must look: a submission is ungraded",
    NOTHING: "nothing to grade: nobody has handed in",
    OURS: "a fault of Shardlab's own, shown with its traceback",
    BUSY: "another command is using the course (with --no-wait)",
    STOPPED: "stopped by Ctrl-C",
}
REFERENCES = {"course-busy": BUSY, "nothing-to-grade": NOTHING}
"""Errors that have a status of their own."""


def epilog() -> str:
    """The list, as click shows it below a command's options."""
    # Click keeps lines as they are after this mark.
    return "\b\nExit status:\n" + "\n".join(f"  {status:>3}  {said.replace('`', '')}" for status, said in MEANINGS.items())
