"""Chapter 14, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

from shardlab_course.shared.manual import promise
from shardlab_judge.cases import axes

ALL = axes(data=8)
PROMISE = promise(
    "out_specs promises equal copies, and JAX cannot prove that they are equal. Perhaps a sum or a gather is missing along "
    "the axis in the message, or all_gather needs to='invarying'.", 3)  # fmt: skip
