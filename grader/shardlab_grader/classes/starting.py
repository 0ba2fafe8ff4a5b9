"""Servers for a class, started before everything else is imported: this module needs little itself."""

from __future__ import annotations

from shardlab_grader.classes import judging, notebook
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.sandbox.servers import Servers


def starting(settings: Settings, workers: int) -> Servers:
    """Servers for a class, each being started while its submissions are read.

    Args:
        settings: as they will be for the notebooks.
        workers: how many notebooks will run at once.
    """
    servers = Servers(workers)
    for _ in range(workers):
        servers.prepare(notebook.SCRIPT, settings.sandbox)
        servers.prepare(judging.SCRIPT, judging.sandbox(settings))
    return servers
