"""Grading a class: from a notebook handed in to its verdicts."""
