"""The kinds of collectives that exercises ask for, as HLO spells them."""

from __future__ import annotations

KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
OR_NONE = (*KINDS, "none")
ERRORS = (r"[A-Za-z]\w*(Error|Exception)", "ValueError")
"""What the name of an exception looks like, and one of them."""
