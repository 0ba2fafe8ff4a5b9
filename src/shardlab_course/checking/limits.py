"""A time limit for what a check runs, counted in processor time, so that a busy machine changes no verdict."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from shardlens import is_users

SECONDS = 20.0
PROCESS = 3 * SECONDS
"""What all threads of a process of its own may take together: XLA compiles and computes in several."""
PATIENCE = 6
"""How many times as long it may take by the clock: code that sleeps uses no processor time."""
TICK = 0.1


class TimeUp(BaseException):
    """The limit has passed. It is no `Exception`, so that an answer's own `except Exception` does not keep it.

    `kept` says whether an `except:` of the answer's kept the first one.
    """

    kept = False


class Stopped(KeyboardInterrupt):
    """The student interrupted a check; a notebook shows one line of it."""

    # IPython shows what this method of an exception returns in place of a traceback.
    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """While it lasts, this thread gets so many seconds of processor time; only the main thread can be stopped.

    Raises:
        TimeUp: they have passed.
        KeyboardInterrupt: somebody pressed Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over, ended = threading.Event(), threading.Event()
    up, kept = TimeUp(), TimeUp()
    kept.kept, raised = True, False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        if not over.is_set():
            raise KeyboardInterrupt
        if ended.is_set():
            return
        if not raised:
            raised = True
            raise up
        leaves = frame is not None and is_users(frame.f_code.co_filename)
        # An `except:` has kept it. From here on a signal is always pending, and so comes before the loop's next round: in
        # what the handler calls, or behind its end. No plain call, after which Python would look for signals at once.
        for _ in map(_thread.interrupt_main, (signal.SIGINT,)):
            if leaves:  # packages are left to tidy up
                kept.__traceback__ = None
                raise kept
            return

    def tell() -> None:
        over.set()
        _interrupt()

    before = signal.signal(signal.SIGINT, stop)
    try:
        with watched(seconds, _clock(), tell, ended):
            yield
    finally:
        ended.set()
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def watched(
    seconds: float, clock: Callable[[], float], act: Callable[[], None], ended: threading.Event | None = None
) -> Iterator[None]:
    """While it lasts, a thread looks at this clock. After so many seconds on it the thread acts, then each second."""
    ended = ended or threading.Event()
    begun, wall = clock(), time.monotonic()
    changing = threading.Lock()

    def watch() -> None:
        wait = TICK
        while not ended.wait(wait):
            with changing:
                late = clock() - begun >= seconds or time.monotonic() - wall >= PATIENCE * seconds
                if late and not ended.is_set():
                    act()
                    wait = 1.0

    threading.Thread(target=watch, daemon=True, name="shardlab-limit").start()
    try:
        yield
    finally:
        ended.set()
        with changing:  # nothing is sent from here on
            pass


def _clock() -> Callable[[], float]:
    """The processor time of the main thread; of the whole process, where a system does not tell threads apart."""
    main = threading.main_thread().ident
    if main is None or not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    clock = time.pthread_getcpuclockid(main)
    return lambda: time.clock_gettime(clock)


def _interrupt() -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)  # ends a sleep too
    else:
        _thread.interrupt_main()
