"""From a pasted message to what the lens's table says of it, and where the course trains it."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from shardlab_course.clinic import cases, old
from shardlab_course.clinic.trained import TRAINED
from shardlens import Recognised, known_messages
from shardlens import diagnose as recognised

ASK = "https://github.com/jax-ml/jax/discussions"
CASES = {case.name: case for case in (*cases.CASES, *old.CASES)}
_OURS = re.compile(r"\[([a-z]+(?:-[a-z]+)+)\] .* where: .* mend:")
_LENS = re.compile(r"\bshardlens\.(?=why|inspect)")


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnosis:
    """What is known of a message; a terminal or a notebook shows it.

    Args:
        found: the rows of the table whose words are in it, or for which people ask so; empty where it is not known here.
        reference: where the message is one of Shardlab's own, the name in its brackets.
    """

    found: tuple[Recognised, ...]
    reference: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the rows."""
        return tuple(each.message.name for each in self.found)

    def __repr__(self) -> str:
        if not self.found:
            return "\n".join(_unknown(self.reference))
        return "\n\n".join("\n".join(_lines(each)) for each in self.found)


def diagnose(message: str | BaseException) -> Diagnosis:
    """What an error or a warning of JAX or XLA means: its likeliest cause, how to mend it, and what trains it.

    Recognised by its words: what JAX 0.10 and 0.12 say, and lines that call what JAX has left behind. Nothing is run.

    Args:
        message: the text as it was printed, traceback included or not, or the exception itself.
    Returns:
        the rows of the table, none where it is not known here; shown, it then says where to ask.
    Example:
        >>> sl.diagnose("NameError: Found an unbound axis name: batch.")
        unbound-axis: A collective is called where its axis has no name
          said:      unbound axis name: batch
          cause:     A collective names the axis batch, but no jax.shard_map around it has
                     that axis.
          mend:      Call it inside jax.shard_map over a mesh with this axis. Under jit
                     alone, write the sum over the whole array. XLA then inserts the
                     communication.
          code:      jax.shard_map(lambda b: jax.lax.psum(b, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)
          exercise:  7.1
          page:      the book's page practices, heading a-collective-without-its-shard_map
          thread:    https://github.com/google/jaxopt/issues/436
    """
    found = list(recognised(message).found)
    text = " ".join(str(message).split())
    for case in CASES.values() if isinstance(message, str) and not found else ():
        if said := case.words(text):
            found.append(Recognised(case.row, said, re.sub(r"\\\d", "...", case.row.mistake)))
    ours = _OURS.search(text)
    return Diagnosis(tuple(found), ours[1] if ours else "")


def page_of(name: str) -> str:
    """The page and the heading that say most of a row: where a program shows it, or its entry among the messages."""
    return CASES[name].page if name in CASES else f"messages.md#{name}"


def _lines(each: Recognised) -> list[str]:
    name = each.message.name
    case = CASES.get(name)
    told = {"exercise": TRAINED.get(name, ""), "page": _page(page_of(name))}
    if case is not None and case.thread:
        told["thread"] = f"https://github.com/{case.thread}"
    lines = [f"  {label + ':':11}{text}" for label, text in told.items() if text]
    return [*(_LENS.sub("sl.", line) for line in each.lines()), *lines]


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
        f"not known here: none of {len(known_messages())} messages has these words.",
        f"  ask:       {ASK},",
        "             with the program and jax.print_environment_info()",
        f"  page:      {_page('errors.md')} for a message with a name in brackets;",
        f"             {_page('practices.md')} for what goes wrong without one",
    ]
