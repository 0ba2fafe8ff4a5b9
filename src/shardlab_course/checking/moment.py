"""What stands below a pass: what the answer reached, in its own numbers, and what comes next."""

from __future__ import annotations

import base64
import dataclasses
import html
from collections.abc import Iterator, Mapping
from typing import Any

from shardlab_course.outline import Exercise, notebook, outline, title
from shardlab_judge.findings import describe
from shardlab_judge.question import Question

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
        return [*self.reached, *([f"Next: {self._following()}."] if self.next else [])]

    def html_lines(self) -> list[str]:
        """As HTML, the next exercise with a link that JupyterLab follows."""
        lines = [html.escape(line) for line in self.reached]
        if self.next is not None:
            name = html.escape(self._following())
            heading = f"Exercise {self.next.id}: {self.next.title}".replace(" ", "-")
            file = notebook(self.next.chapter)
            link = f"<a href='{html.escape(f'{file}#{heading}', quote=True)}'>{name}</a>" if file else name
            lines.append(f"Next: {link}")
        return lines

    def _following(self) -> str:
        assert self.next is not None
        of = "" if self.next.chapter == self.here else f" in chapter {self.next.chapter}, {title(self.next.chapter)}"
        return f"{self.next.id} {self.next.title}{of}, {self.next.minutes} minutes"


def moment(asked: Question, answer: Mapping[str, Any], noted: Mapping[str, Any]) -> Moment:
    """What a pass says.

    Args:
        asked: the exercise.
        answer: what was recorded.
        noted: what is kept of each exercise, this pass included.
    """
    chapter = int(asked.id.partition(".")[0])
    return Moment(tuple(_reached(asked, answer)), following(chapter, noted), chapter)


def following(chapter: int, noted: Mapping[str, Any]) -> Exercise | None:
    """The first open core exercise of the chapter, else of the course, else an optional one."""
    there = outline()
    order = [*there.get(chapter, ()), *(each for one in there.values() for each in one)]
    still = [each for each in order if noted.get(each.id, {}).get("status") != "passed"]
    return next(iter([each for each in still if not each.optional] + still), None)


def _reached(asked: Question, answer: Mapping[str, Any]) -> Iterator[str]:
    """Of programs what they move; of other answers how many were right."""
    from shardlab_judge.items.program import ProgramItem

    programs = [item for item in asked.items if isinstance(item, ProgramItem)]
    for item in programs[:MOST]:
        recorded = answer["items"][item.name].get("programs", ())
        if told := [_moved(case, each) for case, each in zip(item.cases, recorded) if "module" in each]:
            yield f"{item.name}: {told[0]}."
    others = [item for item in asked.items if item not in programs and not getattr(item, "predicted", False)]
    if len(others) > 1 and not programs:
        yield f"All {len(others)} parts are right."


def _moved(case: Any, recorded: Mapping[str, Any]) -> str:
    from shardlab_judge.measuring import measure

    observed = measure(base64.b64decode(recorded["module"]), case).observed
    mesh = ", ".join(f"{name}={size}" for name, size in case.axes)
    if not observed.collectives:
        return f"your program moves nothing between devices, on mesh ({mesh})"
    moved = describe(observed.collectives)
    return f"your program moves {observed.price:,} B a device by {moved}, on mesh ({mesh})"
