"""Other names for mesh axes: what this notebook calls those of the course."""

from __future__ import annotations

from collections.abc import Mapping

from shardlab.errors import ShardlabError

HERE: dict[str, str] = {}
"""What this notebook calls the course's axes, by their names in the course."""


def rename(axes: Mapping[str, str]) -> None:
    """Have this session's exercises call the course's axes by these names.

    Raises:
        ShardlabError: these are no names.
    """
    if not all(isinstance(name, str) and name.isidentifier() for name in (*axes, *axes.values())):
        raise ShardlabError(
            "no-names-of-axes",
            "the names of the axes are not those that this notebook came with.",
            where=f"sl.setup(8, axes={axes!r})",
            mend="take the first cell from the notebook as you were given it.",
        )
    HERE.clear()
    HERE.update(axes)
