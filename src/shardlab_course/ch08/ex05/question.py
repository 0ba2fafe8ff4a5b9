"""Chapter 8, exercise 8.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch08.ex05 import oracle as of
from shardlab_course.ch08.shared import BLOCKS, ROWS, program, rows
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_judge.question import Question, WrongCost, WrongValues

HALO = (
    LEFT,
    WrongCost(
        "edges-for-everybody",
        "The edges of all blocks go to all devices, and each device needs two of those rows. Every additional device "
        "adds to the bytes.",
        2, when=lambda o: of.brings_together(o) and rings.largest(o) < o.inputs[0].nbytes),
    WrongCost(
        "gathers-everything", "The array is gathered, and each device needs two rows of it.", 1, when=of.brings_together),
    WrongValues(
        "wraps-around",
        "Beyond an end you took the row of the other end, but this line has ends. Perhaps your permutation closes the ring.",
        1, when=of.wrapped),
    WrongValues(
        "no-exchange",
        "Every block was filtered as if nothing lay beside it. That is right inside a block, and wrong in the rows beside "
        "another block.",
        1, when=of.lonely),
    WrongValues(
        "one-side-only",
        "Only one of a block's two edges got its neighbour's row; the other edge got zeros. A device needs a row from "
        "the device before and a row from the device after, so two permutes.", 1, when=of.one_sided),
    WrongValues(
        "neighbours-mixed-up",
        "A device got a row from the wrong side, or the wrong row of the right side. The last row of the device before "
        "belongs above your block, and the first row of the device after belongs below it.", 2, when=of.mixed_up),
    WrongValues(
        "edge-rows-repeated",
        "Beyond the ends the first and the last row were repeated. The exercise asks for zeros, which ppermute leaves "
        "there anyway.",
        2, like=lambda x: of.filtered(x, x[0], x[-1])),
    WrongCost(
        "sends-whole-blocks",
        "A permute carries more than one row, and only one is needed. Slice before you send.",
        1, when=lambda o: rings.only_permutes(o) and rings.largest(o) > o.inputs[0][0].nbytes),
)  # fmt: skip

QUESTION = Question(
    "8.5", "One row from each neighbour", difficulty=3, minutes=35,
    known_as="a halo exchange (jaxDecomp has it for JAX)",
    items=(
        program("stencil", {"V": 5.25, "S": 1.75, "H": 3.5}, of.stencil, BLOCKS, ROWS, ROWS, rows, HALO),
    ),
    hints=(
        "A device has nearly all that it needs. Which rows of other devices does its first row need, and which does its "
        "last row need?",
        "Two permutes: last rows go to the next device, first rows to the one before. No pair leads from the last device "
        "to the first, so ppermute leaves zeros there.",
        "above = ppermute(x[-1:], [(i, i + 1), ...]), below = ppermute(x[:1], [(i + 1, i), ...]). Concatenate above, x and "
        "below. Combine three slices of the longer array, each shifted by one row.",
    ),
    explanation="The exchange of edges, or halos, is the collective of grids, images and convolutions. What moves is the "
                "surface of a block, not the block, so it stays cheap however large the blocks grow. The permutation is the "
                "boundary condition: with a closed ring of pairs the array is a circle, with an open chain it is a line. "
                "ppermute gives zeros to a device that is the target of no pair, so the zeros beyond the ends cost nothing. "
                "A closed ring and a mask afterwards is right too.\n\nThe two permutes do not wait for each other, and the "
                "inner rows wait for neither. A compiler may compute the inner rows meanwhile.",
)  # fmt: skip
