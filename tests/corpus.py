"""The corpus `tests/answers/<question>/<name>.py`: one answer a file, its first lines the verdict that it must get."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import runpy
from typing import Any

import jax
import pytest
import together

from shardlab.answers.record import record
from shardlab.processes import recorded
from shardlab_course.checking import predictions
from shardlab_judge.question import Question

FOLDER = pathlib.Path(__file__).parent / "answers"
HEADER = re.compile(r"# (passed|failed: (?P<miss>\S+))\n(# points: (?P<points>[\d.]+)\n)?")


@dataclasses.dataclass(frozen=True)
class Sample:
    """One file of the corpus: whose answer it is, the miss that must be named (`-`: none in particular), its points."""

    path: pathlib.Path
    miss: str | None
    points: float | None

    @property
    def question(self) -> str:
        """Id of the question that the file answers."""
        return self.path.parent.name

    def answer(self, question: Question, seed: int | None) -> dict[str, Any]:
        """What the file's variables leave behind, recorded as a submission's would be."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SHARDLAB_RECORD", "1")
            predictions.GIVEN.clear()
            # Students run with JAX's own settings, not with the suite's.
            with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
                namespace = runpy.run_path(str(self.path))
                if question.observed:
                    patch.setattr(recorded, "launches", together.launches(self.path, recorded.launches))
                return record(question.manifest(seed), namespace, predictions.GIVEN.get(question.id, {}))


def read_sample(path: pathlib.Path) -> Sample:
    """The sample in a file.

    Raises:
        ValueError: its first line is neither `# passed` nor `# failed: <miss>`.
    """
    header = HEADER.match(path.read_text())
    if header is None:
        raise ValueError(f"{path.name}: the first line must be `# passed` or `# failed: <miss>`")
    return Sample(path, header["miss"], float(header["points"]) if header["points"] else None)


SAMPLES = tuple(read_sample(path) for path in sorted(FOLDER.glob("*/*.py")))
