"""Chapter 8, exercise 8.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.shared import BLOCKS, GATHER, ROWS, WHOLE, program, rows, unchanged
from shardlab_judge.question import Question

QUESTION = Question(
    "8.1", "A ring all-gather", difficulty=2, minutes=35,
    items=(
        program("ring_all_gather", {"V": 3, "S": 1.5, "H": 4.5}, unchanged, BLOCKS, ROWS, WHOLE, rows, GATHER),
    ),
    hints=(
        "In every round each device forwards the block that came last. Keep what arrives, and ask each time: on which "
        "device did this block begin?",
        "After i hops to the next device, device d holds the block that began on (d - i) % n. In the output, its place is "
        "that number times the rows of a block.",
        "Make zeros for the whole array, and put your block of r rows at row d*r. Then, n - 1 times, call ppermute and "
        "write the arrival at row ((d-i)%n)*r with dynamic_update_slice_in_dim. out_specs=P() needs check_vma=False.",
    ),
    explanation="There are n blocks and n - 1 hops. In each hop every device sends one block to its neighbour and gets one. "
                "Over all hops that is (n - 1) / n of the gathered array per device. Only the index algebra can go wrong. "
                "Blocks come in the order d, d - 1, d - 2, ..., which is a different order on every device. A program that "
                "lays them down as they come ends up with n different arrays, each of the right shape.\n\nAn array of ones "
                "would not show this mistake, and with a ring that runs the other way device 0's copy is right by chance. "
                "So the check uses random values, and compares every device's copy. For the judge a Python loop and a "
                "fori_loop are the same program, because it counts how often each permute runs.",
)  # fmt: skip
