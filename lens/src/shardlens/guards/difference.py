"""Two programs compared by their facts: what each moves, computes and holds, and whether the second moves more."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shardlens.compilers.topology import in_slices
from shardlens.errors import LensError
from shardlens.guards.amounts import Facts, Moved, moved
from shardlens.programs.figures import SCHEMA
from shardlens.programs.program import Program
from shardlens.tables import Table, Tabled

NEEDED = frozenset(("price", "collectives", "memory", "made_with"))
"""What facts have at least, to be compared."""


class Row(NamedTuple):
    """One quantity of both programs: `Moved`, or a number that is `None` where data decides it."""

    what: str
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True, repr=False)
class Difference(Tabled):
    """What differs between two programs, given by their names and their facts.

    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> one, two = (lens.inspect(f, x).to_json() for f in (lambda x: x + 1, lambda x: (x, x + 1)))
        >>> [row.what for row in Difference(("one", "two"), one, two).rows], Difference(("one", "two"), one, two).more
        (['output, bytes', 'peak, bytes', 'price, bytes'], False)
    """

    names: tuple[str, str]
    a: Facts
    b: Facts

    @functools.cached_property
    def rows(self) -> tuple[Row, ...]:
        """The quantities that differ, and the price below them; none if nothing differs."""
        price = Row("price, bytes", self.a["price"], self.b["price"])
        differ = [row for row in self._quantities() if row.a != row.b]
        by_line = [row for row in self._lines_of_code() if row.a != row.b] if differ or price.a != price.b else []
        return (*differ, *by_line, price) if differ or price.a != price.b else ()

    @property
    def more(self) -> bool:
        """Whether the second moves more, by its price, or may: a price depends on data, and collectives differ."""
        a, b = self.a["price"], self.b["price"]
        return b != 0 and self.a["collectives"] != self.b["collectives"] if None in (a, b) else bool(b > a)

    @property
    def sentence(self) -> str:
        """How much more the second moves than the first, or why that is not known."""
        (first, second), a, b = self.names, self.a["price"], self.b["price"]
        if None in (a, b):
            return f"{second} may move more than {first}: not all that they move can be counted."
        return f"{second}: a device moves {b:,} bytes, {b - a:,} more than in {first}."

    @property
    def too_large(self) -> tuple[str, str]:
        """Of each that does not fit into a device's memory the compiler's words; empty for one that fits."""
        sides = zip(self.names, (self.a, self.b))
        a, b = (f"{name} does not fit: {each['refused']}" if each.get("refused") else "" for name, each in sides)
        return a, b

    def _quantities(self) -> Iterator[Row]:
        had, has = moved(self.a), moved(self.b)
        for key in dict.fromkeys((*had, *has)):
            yield Row(key, had.get(key, Moved()), has.get(key, Moved()))
        for key, what in (("flops", "FLOPs"), ("largest", "largest array, bytes")):
            if key in self.a and key in self.b:  # a lock file has neither
                yield Row(what, self.a[key], self.b[key])
        for key, what in (("communication", "collectives by the model, ns"), ("upper", "all by the model, ns")):
            if (had_it := self.a.get("seconds")) and (has_it := self.b.get("seconds")):
                yield Row(what, round(had_it[key] * 1e9), round(has_it[key] * 1e9))
        for field in dict.fromkeys((*self.a["memory"], *self.b["memory"])):
            yield Row(f"{field}, bytes", self.a["memory"].get(field, 0), self.b["memory"].get(field, 0))

    def _lines_of_code(self) -> Iterator[Row]:
        """By what stands in a line, not by its number, which changes with every line above; a lock file has no lines."""
        had, has = ({(one["line"], one["kind"]): one["price"] for one in each.get("lines", ())} for each in (self.a, self.b))
        for line, kind in dict.fromkeys((*had, *has)) if had and has else ():
            yield Row(f"{line} ({kind})", had.get((line, kind), 0), has.get((line, kind), 0))

    def markdown(self) -> str:
        """The same as a table of a pull request's comment.

        Example:
            >>> x = jax.ShapeDtypeStruct((4,), "float32")
            >>> one, two = (lens.inspect(f, x).to_json() for f in (lambda x: x + 1, lambda x: (x, x + 1)))
            >>> print(Difference(("old", "new"), one, two).markdown().splitlines()[2])
            | output, bytes | 16 | 48 | +32 |
        """
        rows = [("on one device", *self.names, "difference"), ("---", "--:", "--:", "--:")]
        rows += [(row.what, _cell(row.a), _cell(row.b), _change(row.a, row.b)) for row in self.rows]
        table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows] if self.rows else []
        told = [*([self.sentence] if self.more else []), *filter(None, self.too_large if self.rows else ())]
        below = [line for each in told for line in ("", each)]
        return "\n".join([*table, *below, *([] if self.rows else self._lines())])

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        rows = [{"what": row.what, "a": _plain(row.a), "b": _plain(row.b)} for row in self.rows]
        made = {"a": self.a["made_with"], "b": self.b["made_with"]}
        names = dict(zip("ab", self.names))
        refused = dict(zip("ab", self.too_large))
        told = {"schema": SCHEMA, "names": names, "made_with": made, "differs": rows, "moves_more": self.more}
        return told | {"refused": refused}

    def _table(self) -> Table:
        rows = tuple((_short(row.what), _cell(row.a), _cell(row.b), _change(row.a, row.b)) for row in self.rows)
        return Table(("on one device", "A", "B", "B - A"), ("left", *["right"] * 3), rows, tuple(self._lines()))

    def _lines(self) -> Iterator[str]:
        if not self.rows:
            yield f"no difference: a device moves {_cell(self.a['price'])} bytes in both"
        if moved(self.a) != moved(self.b):
            yield "collectives: how many, element types, and bytes of their outputs times executions"
        elif self.a["collectives"] != self.b["collectives"]:
            yield "collectives have different shapes; their totals are the same"
        yield from filter(None, self.too_large)
        made = self.a["made_with"], self.b["made_with"]
        if self.rows or made[0] != made[1]:
            for side, name, by in zip("AB", self.names, made):
                told = ", ".join(filter(None, by.values())) if made[0] != made[1] else ""
                yield f"{side}: {name}" + (f" (JAX {told})" if told else "")


def diff(
    a: Program | Facts,
    b: Program | Facts,
    names: tuple[str, str] = ("A", "B"),
    target: str | None = None,
    num_slices: int = 1,
) -> Difference:
    """What differs between two programs: collectives by kind and axis, bytes by line, FLOPs, memory, time, price.

    Args:
        a, b: programs, or facts as a lock file or `shardlens inspect --json` has them.
        names: what they are called.
        target, num_slices: what the programs were compiled for; then times by the model are compared too.
    Raises:
        LensError: one of them is neither a program nor its facts.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> one, two = (lens.inspect(f, x) for f in (lambda x: x + 1, lambda x: (x, x + 1)))
        >>> [row.what for row in lens.diff(one, two).rows]
        ['output, bytes', 'peak, bytes', 'price, bytes']
    """
    target = in_slices(target, num_slices)
    for name, each in zip(names, (a, b)):
        if not isinstance(each, Program) and not (isinstance(each, Mapping) and NEEDED <= {*each}):
            what = f"{name} is of type {type(each).__name__}, which is neither a program nor the facts of one."
            raise LensError("not-facts", what, where="diff(a, b)", mend="give what inspect(f, x) returns, or its to_json().")
    told = (each.to_json(target) if isinstance(each, Program) else each for each in (a, b))
    return Difference(names, *told)


def read_figures(path: Path, again: str = "shardlens inspect train.py:step --json > step.json") -> dict[str, Any]:
    """The facts that a lock file or `inspect --json` has.

    Args:
        path: of the file.
        again: what writes it again.
    Raises:
        LensError: there is no such file, or it holds something else, or what another version wrote.
    """
    if not path.is_file():
        mend = "write file.py:function, or name a file that shardlens lock or inspect --json wrote."
        raise LensError("not-a-program", f"'{path}' is neither a function nor a file.", where=str(path), mend=mend)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raw = None
    if isinstance(raw, dict) and raw.get("schema") == SCHEMA and NEEDED <= {*raw}:
        return raw
    mend = f"write it again: {again}."
    what = f"{path.name} does not hold the facts of a program in schema {SCHEMA}."
    raise LensError("not-facts", what, where=str(path), mend=mend)


def _short(what: str, most: int = 48) -> str:
    return what if len(what) <= most else f"{what[: most - 3]}..."


def _cell(value: Any) -> str:
    return "?" if value is None else str(value) if isinstance(value, Moved) else f"{value:,.0f}"


def _change(a: Any, b: Any) -> str:
    """The second less the first, in the unit of the row; nothing where data decides."""
    if isinstance(a, Moved):
        a, b = (None if each.bytes_a_round or each.uncounted else each.bytes for each in (a, b))
    return "" if None in (a, b) else f"{b - a:+,.0f}" if a != b else "0"


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value) if isinstance(value, Moved) else value
