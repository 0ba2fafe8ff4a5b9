"""Work that flows: items are started as earlier ones end, so that a whole class never lies in memory."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def flow(start: Callable[[T], Future[R]], items: Iterable[T], most: int) -> Iterator[tuple[T, Future[R]]]:
    """Every item with its future, as each is done.

    Args:
        start: begins the work on an item.
        items: taken one by one, no earlier than they can be started.
        most: how many are under way at once, waiting ones included.
    """
    waiting: dict[Future[R], T] = {}
    for item in items:
        waiting[start(item)] = item
        if len(waiting) >= most:
            yield from _ended(waiting)
    while waiting:
        yield from _ended(waiting)


def _ended(waiting: dict[Future[R], T]) -> Iterator[tuple[T, Future[R]]]:
    ended, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
    for future in ended:
        yield waiting.pop(future), future
