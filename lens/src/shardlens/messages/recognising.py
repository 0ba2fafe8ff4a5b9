"""From what was printed to the rows of the table that explain it."""

from __future__ import annotations

import dataclasses
import itertools
import re
import textwrap
from collections.abc import Iterator

from shardlens.errors import LensError
from shardlens.exceptions import raised_at
from shardlens.messages.table import Message, known_messages

WIDTH, SHORT = 82, 160
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_KIND = r"(?:[\w.]*\.)?(?P<kind>(?:[A-Z]\w*)?(?:Error|Exception|Exit|Interrupt|Warning))(?:: |$)"
# Not the error that jit quotes where it refuses a static argument: it is the same mistake.
_HEAD = re.compile(
    rf"^(?<!The error was:\n)(?:[E>|+\s-]|\[?(?:rank|process) ?\d+\]?:?\s|[\w.]*StackTrace\w*: )*{_KIND}", re.MULTILINE
)
_INLINE = re.compile(rf"(?<![\w.]){_KIND}")
_CAUSES = "The above exception was the direct cause of the following exception"
_END = re.compile(
    r"^\s*(?:Traceback \(most recent|During handling of the above|The above exception was|-{20,}|The stack trace below)",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Recognised:
    """A message that the table knows.

    Args:
        message: its row.
        said: the words by which it is known.
        mistake: the likeliest reason, with what the message names.
    Example:
        >>> recognise("ValueError", "P('x', 'x') has duplicate entries for `x`")[0].mistake
        "A spec names the mesh axis 'x' twice, but an axis cuts at most one dimension."
    """

    message: Message
    said: str
    mistake: str

    def lines(self) -> list[str]:
        """What it means, why, and how to mend it, for a terminal."""
        row = self.message
        said = {"said": textwrap.shorten(self.said, SHORT, placeholder=" ...")} if self.said else {}
        told = {**said, "cause": self.mistake, "mend": row.cure}
        lines = [f"{row.name}: {row.means}"]
        for label, text in told.items():
            lines += wrapped(label, text)
        return [*lines, *labelled("code", row.code.splitlines())]


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnosis:
    """What the table knows of a text: each message that is in it, in the order of the text; empty where none is known.

    Example:
        >>> diagnose("step 17, loss 0.3").found
        ()
    """

    found: tuple[Recognised, ...]

    def __repr__(self) -> str:
        if not self.found:
            return f"not known here: none of {len(known_messages())} messages has these words."
        return "\n\n".join("\n".join(each.lines()) for each in self.found)


def diagnose(message: str | BaseException) -> Diagnosis:
    """What an error or a warning of JAX or XLA means, its likeliest reason and its cure. Nothing is run.

    Args:
        message: the text as it was printed, with a traceback, in the middle of a log or alone; or the exception itself.
    Raises:
        LensError: it is neither.
    Example:
        >>> diagnose("NameError: Found an unbound axis name: batch. To fix this, please call psum under `jax.shard_map`.")
        unbound-axis: A collective is called where its axis has no name
          said:      unbound axis name: batch
          cause:     A collective names the axis batch, but no jax.shard_map around it has
                     that axis.
          mend:      Call it inside jax.shard_map over a mesh with this axis. Under jit
                     alone, write the sum over the whole array. XLA then inserts the
                     communication.
          code:      jax.shard_map(lambda b: jax.lax.psum(b, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)
    """
    if isinstance(message, BaseException):
        return Diagnosis(_of_exception(message))
    if not isinstance(message, str):
        what = f"a message is a text or an exception, but this is of type {type(message).__name__}."
        mend = 'paste what was printed, diagnose("..."), or give the exception itself.'
        raise LensError("no-message", what, where="diagnose(message)", mend=mend)
    text = _COLOURS.sub("", message)
    found: dict[str, Recognised] = {}
    known: tuple[Recognised, ...] = ()
    for kind, said in reversed(list(_exceptions(text))):
        # What another exception was raised from is told only where that one is not known.
        if not (known and _CAUSES in said):
            known = recognise(kind, said)
            found = {each.message.name: each for each in known} | found
    for each in recognise("", text):
        if not each.message.types or not found:
            found.setdefault(each.message.name, each)
    return Diagnosis(tuple(found.values()))


def recognise(kind: str, said: str, line: str = "") -> tuple[Recognised, ...]:
    """The rows that know one message; the table is made so that it is one at most.

    Args:
        kind: the name of the exception's type; empty for what is none, or where it is not known.
        said: the message.
        line: where it was raised, as `raised_at` tells it; some rows look at what was being run.
    Example:
        >>> [each.message.name for each in recognise("KeyError", "'batch'")]
        ['no-such-key']
    """
    end = _END.search(said)
    plain = " ".join(said[: end.start() if end else None].split())
    plain = f"{kind}: {plain}" if kind else plain
    placed = f"{plain}\nat {_marked(line)}\nsays {line.rpartition(chr(10))[2]}"
    found = ((row, match) for row in known_messages() if (match := row.found(kind, placed if row.types else plain)))
    return tuple(Recognised(row, _words(match[0]), _filled(row, match)) for row, match in found)


def _words(said: str) -> str:
    return said.partition("\nat ")[0].strip()


def _filled(row: Message, match: re.Match[str]) -> str:
    """The mistake with what was found; a group that took no part is shown as dots."""
    return re.sub(r"\\(\d)", lambda n: (match[int(n[1])] or "...").strip(), row.mistake)


def _of_exception(raised: BaseException) -> tuple[Recognised, ...]:
    """Of the exception; where it is not known, of the one that it was raised from."""
    seen: set[int] = set()
    at: BaseException | None = raised
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        try:
            said = str(at)
        except Exception:  # a class of the user's may raise here
            said = ""
        if found := recognise(type(at).__name__, said, raised_at(at)):
            return found
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return ()


def _exceptions(text: str) -> Iterator[tuple[str, str]]:
    """Type of each exception in a text, and what follows: where a line begins with one, else wherever one is named."""
    heads = list(_HEAD.finditer(text)) or list(_INLINE.finditer(text))
    for head, after in itertools.zip_longest(heads, heads[1:]):
        yield head["kind"], text[head.end() : after.start() if after else None]


def _marked(line: str) -> str:
    """The part of the second line that stands above carets."""
    _, shown, carets, *_ = [*line.split("\n"), "", "", ""]
    return shown[carets.index("^") : carets.rindex("^") + 1] if set(carets) <= {" ", "^"} and "^" in carets else ""


def wrapped(label: str, text: str) -> list[str]:
    """A labelled paragraph."""
    return labelled(label, textwrap.wrap(text, WIDTH - 13, break_on_hyphens=False, break_long_words=False))


def labelled(label: str, lines: list[str]) -> list[str]:
    """Lines below one another, the first behind its label."""
    return [f"  {label + ':' if not n else '':11}{line}" for n, line in enumerate(lines)]
