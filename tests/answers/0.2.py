"""An eighth of everything but B, in the same time."""

from variants import right, wrong

import shardlab as sl

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="same")


@wrong("devices-counted", 1.25)
def counts_for_shares():
    """Eight for an eighth."""
    share = {"A": 8, "B": 1, "C": 8, "flops": 8}
    sl.predict("0.2", share=share, time="same")


@right
def decimals():
    """Decimal fractions."""
    share = {"A": 0.125, "B": 1.0, "C": 0.125, "flops": 0.125}
    sl.predict("0.2", share=share, time="same")


@wrong("device-count-is-speed", 1)
def eight_times_faster():
    """Eight devices, eight times the speed."""
    sl.predict("0.2", share=share, time="8x faster")


@wrong("simulation-is-slow", 1)
def eight_times_slower():
    """Simulation is paid for in time."""
    sl.predict("0.2", share=share, time="8x slower")


@wrong("everything-is-divided", 1.75)
def everything_is_divided():
    """B is cut, too."""
    share = {"A": 1 / 8, "B": 1 / 8, "C": 1 / 8, "flops": 1 / 8}
    sl.predict("0.2", share=share, time="same")


@wrong("nothing-is-divided", 1.5)
def nothing_is_divided():
    """Only the work is divided."""
    share = {"A": 1, "B": 1, "C": 1, "flops": 1 / 8}
    sl.predict("0.2", share=share, time="same")


@wrong("work-is-repeated", 1.75)
def work_is_repeated():
    """Everyone does all the work."""
    share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1}
    sl.predict("0.2", share=share, time="same")
