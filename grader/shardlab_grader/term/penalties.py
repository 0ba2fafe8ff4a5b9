"""What lateness costs, asked by nbgrader for each late submission."""

from __future__ import annotations

import pathlib

from nbgrader.plugins import LateSubmissionPlugin

from shardlab_grader.term import reading


class CoursePenalty(LateSubmissionPlugin):  # type: ignore[misc, unused-ignore]
    """The penalty of the course's settings; without one nbgrader's own, which `penalty_method` chooses."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        penalty = reading.load(pathlib.Path(self.parent.parent.parent.coursedir.root)).penalty
        if penalty is None:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        return penalty.of(score, total_seconds_late)
