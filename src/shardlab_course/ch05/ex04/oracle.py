"""Chapter 5, exercise 5.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from shardlab_judge.cases import Observed


def numbered(observed: Observed) -> bool:
    """Whether some argument is sharded over axes that the mesh of the case does not have."""
    known = {name for name, _ in observed.case.axes}
    entries = [e for given in observed.case.inputs for e in given.spec if e is not None]
    return any(not set([e] if isinstance(e, str) else e) <= known for e in entries)
