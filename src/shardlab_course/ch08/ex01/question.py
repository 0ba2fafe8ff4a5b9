"""Chapter 8, exercise 8.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.shared import BLOCKS, GATHER, ROWS, WHOLE, program, rows, unchanged
from shardlab_judge.question import Question

QUESTION = Question(
    "8.1", "A ring all-gather", difficulty=2, minutes=35,
    items=(
        program("ring_all_gather", {"V": 1, "S": 0.5, "H": 1.5}, unchanged, BLOCKS, ROWS, WHOLE, rows, GATHER),
    ),
    hints=(
        "In every round each device passes on the block that came last. Keep what arrives, and ask each time: on which "
        "device did this block begin?",
        "After i hops to the next device, device d holds the block that began on (d - i) % n. Its place in the output is "
        "that number times the rows of a block.",
        "Make zeros for the whole, put your own block at row d times r, with r rows in a block. Then n - 1 times: "
        "ppermute, and dynamic_update_slice_in_dim at row ((d - i) % n) times r. out_specs=P() needs check_vma=False.",
    ),
    explanation="n blocks, n - 1 hops, and in each hop every device sends one block to its neighbour and gets one: (n - "
                "1) / n of the gathered array a device. The index algebra is all there is to get wrong. Chunks come in "
                "the order d, d - 1, d - 2, ..., another one on every device, and whoever lays them down as they come "
                "ends up with n different arrays, each of the right shape.\n\nAll-ones would not show it, and with a ring "
                "that runs the other way device 0's copy is right by chance; hence the random values, and the comparison of "
                "every device's copy. A Python loop and a fori_loop are the same program to the judge, who counts how often "
                "each permute runs.",
)  # fmt: skip
