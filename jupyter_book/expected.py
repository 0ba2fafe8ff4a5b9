"""What a build is going to do and how long it takes, from what was kept of the last one."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import resource
import time
import warnings
from collections.abc import Collection, Iterator, Mapping

import jupytext
from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase

from shardlab_course.editions import edition

TIMES = "seconds.json"
"""In the folder of the cache: seconds that each page ran, and that rendering took a page."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The pages that a build renders, those of them that run first, and the seconds that both took before."""

    rendered: tuple[str, ...]
    running: tuple[str, ...]
    whole: int
    ran: Mapping[str, float]
    page: float | None

    def said(self) -> str:
        """In two sentences."""
        count = f"Rendering {len(self.rendered)} of {self.whole} pages, {len(self.running)} of which run first."
        unknown = [name for name in self.running if name not in self.ran]
        if unknown:
            first = f"{unknown[0]} and {len(unknown) - 1} more" if unknown[1:] else unknown[0]
            return f"{count} How long that takes is not known: {first} did not run on this machine yet."
        if self.page is None:
            return f"{count} How long that takes is not known: this folder has no book yet."
        seconds = sum(self.ran[name] for name in self.running) + self.page * len(self.rendered)
        return f"{count} That takes about {seconds:.0f} s, going by the last time."


def plan(cache: pathlib.Path, pages: pathlib.Path, rendered: Collection[str]) -> Plan:
    """What rendering these pages is going to do."""
    noted = cache / TIMES
    before = json.loads(noted.read_text()) if noted.exists() else {}
    running = tuple(name for name in rendered if not _kept(cache, (pages / name).read_text()))
    whole = sum(1 for _ in pages.rglob("*.md"))
    return Plan(tuple(rendered), running, whole, {**before.get("ran", {}), **_ran(cache)}, before.get("page"))


@contextlib.contextmanager
def opened(folder: pathlib.Path) -> Iterator[JupyterCacheBase]:
    """The cache of the pages' outputs; its database is closed afterwards."""
    cache = get_cache(folder)
    try:
        yield cache
    finally:
        cache.db.dispose()


def _kept(cache: pathlib.Path, text: str) -> bool:
    """Whether a page has nothing to run, or its outputs are in the cache."""
    if "{code-cell}" not in text:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page's description is no notebook's metadata
        notebook = jupytext.reads(text, fmt=edition.MYST)
    try:
        with opened(cache) as kept:
            kept.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def _ran(cache: pathlib.Path) -> dict[str, float]:
    """Seconds that each page in the cache ran, by its name below `pages`."""
    found = {}
    with opened(cache) as kept:
        records = kept.list_cache_records()
    for record in records:
        path = pathlib.Path(record.uri)
        folder = f"{path.parent.name}/" if path.parent.name in ("notebooks", "solutions") else ""
        found[f"{folder}{path.stem}.md"] = float((record.data or {}).get("execution_seconds", 0.0))
    return found


def note(cache: pathlib.Path, done: Plan, seconds: float) -> None:
    """Keep how long each page ran, and how long rendering a page took besides."""
    ran = {**done.ran, **_ran(cache)}
    spent = max(0.0, seconds - sum(ran.get(name, 0.0) for name in done.running))
    page = spent / len(done.rendered) if done.rendered else done.page
    (cache / TIMES).write_text(json.dumps({"ran": ran, "page": page}, indent=1, sort_keys=True) + "\n")


@dataclasses.dataclass
class Clock:
    """Seconds since it was made, and of the processors in processes that were started since and have ended."""

    began: float = dataclasses.field(default_factory=time.monotonic)
    before: float = dataclasses.field(default_factory=lambda: _children())

    @property
    def seconds(self) -> float:
        """By the wall."""
        return time.monotonic() - self.began

    def said(self) -> str:
        """Both, in a sentence."""
        return f"That took {self.seconds:.0f} s, and {_children() - self.before:.0f} s of CPU."


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
