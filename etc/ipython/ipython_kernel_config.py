"""Kernels of this environment say which earlier cell makes a name that is not there."""

c.InteractiveShellApp.extensions.append("shardlab.cells")  # noqa: F821
