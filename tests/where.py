"""Where this checkout lies, for tests of what a sandbox shows."""

from __future__ import annotations

import pathlib

from shardlab_grader.sandbox.box import interpreter


def names_in_tmp() -> list[str]:
    """What a sandbox's `/tmp` holds before anything is written: the way to this Python, where it lies below `/tmp`."""
    targets = [pathlib.Path(mount.target) for mount in interpreter()]
    return sorted({target.parts[2] for target in targets if target.is_relative_to("/tmp")})
