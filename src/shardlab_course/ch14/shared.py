"""Chapter 14, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

from shardlab_judge.cases import axes

ALL = axes(data=8)
