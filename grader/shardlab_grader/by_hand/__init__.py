"""Answers that a person grades, by the lines of a rubric and with comments that you can reuse."""
