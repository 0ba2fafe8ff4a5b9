"""Say what you expect before you run it."""

from __future__ import annotations

import dataclasses
from typing import Any

from shardlab.answers.in_the_box import GIVEN
from shardlab.answers.record import is_open
from shardlab.errors import ShardlabError
from shardlab.plain import plain
from shardlab_course.checking import progress_file


@dataclasses.dataclass(frozen=True)
class Prediction:
    """What was noted; shown beside what was measured by `sl.check`."""

    question: str
    values: dict[str, Any]

    def __repr__(self) -> str:
        if all(map(is_open, self.values.values())):
            return f"Prediction {self.question} is still open: replace the `...`, then run this cell."
        said = ", ".join(f"{name} = {value!r}" for name, value in self.values.items())
        return f'Noted for {self.question}: {said}. Now run on; sl.check("{self.question}", ...) compares.'


def predict(question: str, /, **values: Any) -> Prediction:
    """Note a prediction for a question, one keyword for each thing that it asks for. `...` means not predicted yet.

    Raises:
        ShardlabError: the question is unknown, or asks for no such prediction.
    """
    given = {name: value for name, value in values.items() if not is_open(value)}
    _check_names(question, values)
    GIVEN.setdefault(question, {}).update(given)
    if given:
        progress_file.note_prediction(question, {name: plain(value) for name, value in given.items()})
    return Prediction(question, values)


def predicted(question: str) -> dict[str, Any]:
    """What was predicted for a question: in this session, else in an earlier one."""
    return {**progress_file.read()["predictions"].get(question, {}), **GIVEN.get(question, {})}


def _check_names(question: str, values: dict[str, Any]) -> None:
    from shardlab_course.chapters import question as find

    asked = [item.name for item in find(question).items if getattr(item, "predicted", False)]
    unknown = [name for name in values if name not in asked]
    if unknown:
        wanted = ", ".join(f"{name}=..." for name in asked) or "nothing"
        raise ShardlabError(
            "unknown-prediction",
            f"question {question} asks for no prediction named {', '.join(unknown)}.",
            where=f"sl.predict({question!r}, {', '.join(f'{name}=...' for name in values)})",
            mend=f"it asks for: sl.predict({question!r}, {wanted}).",
        )
