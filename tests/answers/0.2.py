"""An eighth of everything but B, in the same time."""

import shardlab as sl
from variants import right, told

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="same", why="c")


@told("devices-counted")
def counts_for_shares():
    """Eight for an eighth."""
    share = {"A": 8, "B": 1, "C": 8, "flops": 8}
    sl.predict("0.2", share=share, time="same", why="c")


@right
def decimals():
    """Decimal fractions."""
    share = {"A": 0.125, "B": 1.0, "C": 0.125, "flops": 0.125}
    sl.predict("0.2", share=share, time="same", why="c")


@told("device-count-is-speed")
def eight_times_faster():
    """Eight devices, eight times the speed."""
    sl.predict("0.2", share=share, time="8x faster", why="c")


@told("simulation-is-slow")
def eight_times_slower():
    """Simulation is paid for in time."""
    sl.predict("0.2", share=share, time="8x slower", why="c")


@told("everything-is-divided")
def everything_is_divided():
    """B is cut, too."""
    share = {"A": 1 / 8, "B": 1 / 8, "C": 1 / 8, "flops": 1 / 8}
    sl.predict("0.2", share=share, time="same", why="c")


@told("nothing-is-divided")
def nothing_is_divided():
    """Only the work is divided."""
    share = {"A": 1, "B": 1, "C": 1, "flops": 1 / 8}
    sl.predict("0.2", share=share, time="same", why="c")


@told("work-is-repeated")
def work_is_repeated():
    """Everyone does all the work."""
    share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1}
    sl.predict("0.2", share=share, time="same", why="c")


@right
def fractions():
    """Shares as fractions, and numbers of NumPy."""
    from fractions import Fraction

    import numpy as np

    sl.predict(
        "0.2", share={"A": Fraction(1, 8), "B": np.int32(1), "C": np.float32(0.125), "flops": 0.125}, time="SAME", why="c"
    )


@told("devices-are-hardware")
def devices_are_hardware():
    sl.predict("0.2", share=share, time="same", why="a")


@told("overhead-decides")
def overhead_decides():
    sl.predict("0.2", share=share, time="same", why="b")
