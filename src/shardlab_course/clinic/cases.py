"""The cases of the clinic that are mistakes and surprises; what is old is in `old`."""

from __future__ import annotations

from shardlab_course.clinic import moving, placing

CASES = (*placing.CASES, *moving.CASES)
