"""Say what you expect before you run it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from shardlab.answers.in_the_box import GIVEN, exercise_id
from shardlab.answers.record import is_open
from shardlab.as_json import as_json
from shardlab.errors import ShardlabError
from shardlab_course.checking import progress_file
from shardlab_course.renaming import Renaming
from shardlab_course.variants import names_here


@dataclasses.dataclass(frozen=True)
class Prediction:
    """What was noted, and what the first prediction was where it is another one; `sl.check` says how it turned out."""

    question: str
    values: dict[str, Any]
    first: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        if all(map(is_open, self.values.values())):
            return f"Prediction {self.question} is still open: replace the `...`, then run this cell."
        lines = [
            f'Noted for {self.question}: {_listed(self.values)}. Now run on; sl.check("{self.question}", ...) compares.'
        ]
        if changed := {name: self.first[name] for name in self.values if self.first.get(name) != as_json(self.values[name])}:
            lines.append(f"Your first prediction is kept beside it: {_listed(changed)}. It has earned the points.")
        return "\n".join(lines)


def predict(question: str | float, /, *unnamed: Any, **values: Any) -> Prediction:
    """Note a prediction for a question, one keyword for each thing that it asks for. `...` means not predicted yet.

    Raises:
        ShardlabError: the question is unknown, asks for no such prediction, or a value cannot be one; nothing is noted then.
    """
    asked: str = exercise_id(question)
    given = {name: value for name, value in values.items() if not is_open(value)}
    _check_names(asked, unnamed, values)
    read = _read(asked, given)
    GIVEN.setdefault(asked, {}).update(read)
    first = progress_file.note_prediction(asked, read) if read else {}
    return Prediction(asked, {name: read.get(name, ...) for name in values}, first)


def predicted(question: str) -> dict[str, Any]:
    """What was predicted for a question: in this session, else in an earlier one."""
    return {**progress_file.read()["predictions"].get(question, {}), **GIVEN.get(question, {})}


def _read(question: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values in the course's spelling."""
    from shardlab_course.chapters import asked as find
    from shardlab_judge.items.value import ValueItem

    read: dict[str, Any] = {}
    faults: dict[str, str] = {}
    renaming = Renaming(names_here(question))
    for item in find(question).items:
        if isinstance(item, ValueItem) and item.name in given:
            try:
                reading = item.read(renaming.value(as_json(given[item.name])))
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                faults[item.name] = f"{item.name}: {error}"
                continue
            faults |= {f"{item.name}{n}": f"{item.name}: {fault}" for n, fault in enumerate(reading.faults)}
            if reading.value is not None:  # nothing was said, which is not what was predicted first
                read[item.name] = renaming.value(reading.value)
    if faults:
        raise ShardlabError(
            "no-such-prediction",
            renaming.text("; ".join(faults.values()) + "."),
            where=f"sl.predict({question!r}, {', '.join(f'{name}=...' for name in given)})",
            mend="write what the exercise lists, and `...` where you don't predict yet. Nothing was noted.",
        )
    return read


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


def _check_names(question: str, unnamed: tuple[Any, ...], values: dict[str, Any]) -> None:
    from shardlab_course.chapters import asked as find

    asked = [item.name for item in find(question).items if getattr(item, "predicted", False)]
    unknown = [name for name in values if name not in asked]
    if unknown or unnamed:
        wanted = ", ".join(f"{name}=..." for name in asked) or "nothing"
        what = f"named {', '.join(unknown)}" if unknown else "without its name"
        given = ["..."] * len(unnamed) + [f"{name}=..." for name in values]
        raise ShardlabError(
            "unknown-prediction",
            f"question {question} asks for no prediction {what}.",
            where=f"sl.predict({question!r}, {', '.join(given)})",
            mend=f"it asks for: sl.predict({question!r}, {wanted}).",
        )
