# failed: nothing-cut
# points: 0
"""Copies everywhere."""

rules = [("", "... -> ...")]
