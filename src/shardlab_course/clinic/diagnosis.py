"""From a pasted message to the case of the clinic."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import textwrap

from shardlab_course.clinic import cases, old
from shardlab_course.clinic.case import Case

ASK = "https://github.com/jax-ml/jax/discussions"
WIDTH = 82
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_OURS = re.compile(r"\[([a-z]+(?:-[a-z]+)+)\] .* where: .* mend:")


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnosis:
    """What the clinic knows of a message; a terminal or a notebook shows it.

    Args:
        cases: those whose words are in it, in the clinic's order; empty where it is not known here.
        said: of each case the words by which it is known.
        reference: where the message is one of Shardlab's own, the name in its brackets.
    """

    cases: tuple[Case, ...]
    said: tuple[str, ...]
    reference: str = ""

    def __repr__(self) -> str:
        if not self.cases:
            return "\n".join(_unknown(self.reference))
        return "\n\n".join("\n".join(_lines(case, said)) for case, said in zip(self.cases, self.said, strict=True))


def diagnose(message: str | BaseException) -> Diagnosis:
    """Which known trouble an error or a warning of JAX or XLA tells of: its cause, how to mend it, and what trains it.

    Recognised by its words: what JAX 0.10 and 0.12 say, and lines that call what JAX has left behind. Nothing is run.

    Args:
        message: the text as it was printed, traceback included or not, or the exception itself.
    Returns:
        the cases, none where it is not known here; shown, it then says where to ask.
    Example:
        >>> sl.diagnose("NameError: Found an unbound axis name: batch.")
        unbound-axis: A collective is called where its axis has no name
          said:      unbound axis name: batch
          cause:     psum and its relatives name an axis of a shard_map around them, and
                     there is none of this name.
          mend:      Call it inside jax.shard_map over a mesh with that axis. Under jit
                     alone write the sum over the whole array: XLA communicates.
          exercise:  7.1
          page:      the book's page practices, heading a-collective-without-its-shard_map
          thread:    https://github.com/google/jaxopt/issues/436
    """
    text = f"{type(message).__name__}: {message}" if isinstance(message, BaseException) else str(message)
    text = " ".join(_COLOURS.sub("", text).split())
    found = [(case, said) for case in (*cases.CASES, *old.CASES) if (said := case.said(text))]
    ours = _OURS.search(text)
    return Diagnosis(tuple(case for case, _ in found), tuple(said for _, said in found), ours[1] if ours else "")


def _lines(case: Case, said: str) -> list[str]:
    lines = [f"{case.name}: {case.title}"]
    told = {"said": textwrap.shorten(said, 2 * WIDTH, placeholder=" ..."), "cause": case.cause, "mend": case.mend}
    thread = {"thread": f"https://github.com/{case.thread}"} if case.thread else {}
    for label, text in {**told, "exercise": case.exercise, "page": _page(case.page), **thread}.items():
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"  {label + ':':11}",
            subsequent_indent=" " * 13,
            break_on_hyphens=False,
            break_long_words=False,
        )
    return lines


def _page(link: str) -> str:
    """A page's link where it opens, beside the notebook; else the page's name in the book, and its heading."""
    file, _, heading = link.partition("#")
    if (pathlib.Path.cwd() / file).is_file():
        return link
    return f"the book's page {pathlib.Path(file).stem}" + (f", heading {heading}" if heading else "")


def _unknown(reference: str) -> list[str]:
    if reference:
        return [
            "not known here: this message is Shardlab's own, and says itself how to mend it.",
            f"  page:      {_page(f'errors.md#{reference}')}",
        ]
    return [
        f"not known here: none of {len(cases.CASES) + len(old.CASES)} cases has these words.",
        f"  ask:       {ASK},",
        "             with the program and jax.print_environment_info()",
        f"  page:      {_page('errors.md')} for a message with a name in brackets;",
        f"             {_page('practices.md')} for what goes wrong without one",
    ]
