"""What stands below a pass: what the answer reached, in its own numbers, what the field calls it, and what comes next."""

from __future__ import annotations

import base64
import dataclasses
import html
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shardlab_course.outline import Exercise, notebook, title
from shardlab_course.plan import planned
from shardlab_judge.findings import describe
from shardlab_judge.question import Question
from shardlens import price, read_program

MOST = 6
"""Programs of which it is said what they move."""


@dataclasses.dataclass(frozen=True)
class Moment:
    """Sentences about the answer, and the exercise that comes next."""

    reached: tuple[str, ...] = ()
    next: Exercise | None = None
    here: int = -1

    def lines(self) -> list[str]:
        """As plain text."""
        return [*self.reached, *([f"{self._where}: {self._exercise}."] if self.next else [])]

    def html_lines(self) -> list[str]:
        """As HTML. Another chapter is a link; JupyterLab does not scroll to a heading that it has not drawn yet."""
        lines = [html.escape(line) for line in self.reached]
        if self.next is not None:
            file = "" if self.next.chapter == self.here else notebook(self.next.chapter)
            where = html.escape(self._where)
            linked = f"<a href='{file}'>{where}</a>" if file else where
            lines.append(f"{linked}: {html.escape(self._exercise)}.")
        return lines

    @property
    def _where(self) -> str:
        assert self.next is not None
        chapter = self.next.chapter
        return "Next in this chapter" if chapter == self.here else f"Next, in chapter {chapter}, {title(chapter)}"

    @property
    def _exercise(self) -> str:
        assert self.next is not None
        return f"{self.next.id} {self.next.title}, {self.next.minutes} minutes"


def moment(asked: Question, said: Sequence[str], noted: Mapping[str, Any]) -> Moment:
    """What a pass says.

    Args:
        asked: the exercise.
        said: what the answer reached, from `reached`.
        noted: what is kept of each exercise, this pass included.
    """
    chapter = int(asked.id.partition(".")[0])
    known = [f"The field calls this {asked.known_as}."] if asked.known_as else []
    return Moment((*said, *known), following(chapter, noted), chapter)


def following(chapter: int, noted: Mapping[str, Any]) -> Exercise | None:
    """The first open core exercise of the chapter, else of the course or its plan, else an optional one."""
    there = planned()
    order = [*there.get(chapter, ()), *(each for one in there.values() for each in one)]
    still = [each for each in order if noted.get(each.id, {}).get("status") != "passed"]
    return next(iter([each for each in still if not each.optional] + still), None)


def reached(asked: Question, answer: Mapping[str, Any]) -> Iterator[str]:
    """Of programs what they move on simulated CPU devices; of other answers how many were right."""
    from shardlab_judge.items.program import ProgramItem

    programs = [item for item in asked.items if isinstance(item, ProgramItem)]
    first = {item.name: answer["items"][item.name].get("programs", ({},))[0] for item in programs[:MOST]}
    moved = [(item, _observed(item, first[item.name])) for item in programs[:MOST] if "module" in first[item.name]]
    dearest = max(moved, key=lambda each: each[1].price, default=(None, None))[0]
    for item, observed in moved:
        yield f"{item.name} {_moved(observed)}{_beside(item, observed.price) if item is dearest else ''}."
    others = [item for item in asked.items if item not in programs and not getattr(item, "predicted", False)]
    if len(others) > 1 and not programs:
        yield f"All {len(others)} parts are right." if len(others) > 2 else "Both parts are right."


def _observed(item: Any, recorded: Mapping[str, Any]) -> Any:
    """What was measured of an item's program in its first case."""
    from shardlab_judge.measuring import measure

    return measure(base64.b64decode(recorded["module"]), item.cases[0]).observed


def _beside(item: Any, moved: int) -> str:
    """What XLA chooses, where that can be asked."""
    chosen = own_choice(item) if "H" in item.points and moved else None
    if chosen is None:
        return ""
    return "; XLA's own choice moves as much" if chosen == moved else f"; XLA's own choice moves {chosen:,} B"


def own_choice(item: Any) -> int | None:
    """Bytes that the oracle's formula moves in an item's first case, when XLA decides; `None` where JAX cannot trace it."""
    import jax

    from shardlab.answers.context import situation
    from shardlab_judge.measuring import QUICK

    case = item.cases[0]
    try:
        mesh, specs = situation(case.to_json())
        places = [None if spec is None else jax.NamedSharding(mesh, jax.P(*spec)) for spec in case.outputs]
        jitted = jax.jit(item.oracle, out_shardings=places[0] if len(places) == 1 else tuple(places))
        with warnings.catch_warnings():
            # A formula asks for float64 where it is NumPy's; JAX's own is float32.
            warnings.filterwarnings("ignore", "Explicitly requested dtype")
            lowered: Any = jitted.lower(*specs)
        compiled = lowered.compile(compiler_options=QUICK)
        return price(read_program(compiled, case.axes, ()).collectives)
    except Exception:  # a formula in NumPy alone, a mesh of Explicit axes, a price that data decide
        return None


def _moved(observed: Any) -> str:
    mesh = ", ".join(f"{name}={size}" for name, size in observed.case.axes)
    if not observed.collectives:
        return f"moves nothing between devices, on mesh ({mesh})"
    moved = describe(observed.collectives)
    return f"moves {observed.price:,} B a device by {moved}, on mesh ({mesh})"
