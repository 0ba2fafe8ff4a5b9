"""Chapter 1's misconceptions: what is said of a mechanism that is not the true one."""

from __future__ import annotations

from shardlab_judge.items.value import Believed, why

MECHANISM = why(
    "What decides whether a device changes its rows?",
    a=Believed(
        "How the array is cut: what another spec cuts otherwise has to move.",
        "other-blocks",
        "Both specs cut the same eight blocks, as the list shows; only their holders differ.",
    ),
    b="The number that its two coordinates make: the tuple says which of them is the leading digit.",
    c=Believed(
        "Which axis leads: devices along it change their rows, devices along the other keep theirs.",
        "one-axis-stays",
        "From device 0 one gets to 4 along x alone, and to 1 along y alone; both change their rows, as the list shows.",
    ),
)
