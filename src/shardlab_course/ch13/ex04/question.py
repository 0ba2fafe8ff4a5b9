"""Chapter 13, exercise 13.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch13.ex04 import oracle as of
from shardlab_course.ch13.shared import LINE, SWAPPED, TWICE, UNTILED, WIDE, all_of_it, count, if_right, lies
from shardlab_course.shared.sent import little_beside, part
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

RFFT = WrongProgram(
    "half-the-waves",
    "rfft returns n // 2 + 1 waves for n points, and the mesh axis does not divide that number. Use fft, or pad the waves "
    "before the exchange.", 2, error=r"split_axis \((11|17|21)\) has to be divisible")  # fmt: skip
POISSON = (
    all_of_it(of.potential), RFFT, SWAPPED, UNTILED,
    WrongValues(
        "local-index-as-global",
        "Each device numbered the columns of its block from zero. In k-space device d's columns begin at d times the number "
        "of columns per device, and so do its wavenumbers.", 1, when=of.numbered_locally),
    WrongValues(
        "zeroed-on-every-device",
        "Each device zeroed entry [0, 0] of its own block. That is wavenumber zero on the first device alone; set the "
        "entry to zero where k² is zero.", 1, when=of.zeroed_everywhere),
    WrongValues(
        "no-negative-waves", "Wavenumbers were counted up to the last. The second half of them are negative: see fftfreq.",
        1, like=of.without_negative),
    WrongValues(
        "divides-by-zero",
        "Some values are not finite. Perhaps the entry of wavenumber zero is divided by its square, which is zero, and the "
        "inverse transform spreads it over the whole field: set that one entry to zero.", 2,
        when=lambda o: not all(np.isfinite(block).all() for _, _, block in o.shards[0])),
    WrongValues(
        "mean-kept",
        "The field has a mean, so the entry of wavenumber zero is not zero. Perhaps it was divided by something else: set "
        "it to zero.",
        2, when=of.another_mean),
    WrongValues(
        "imaginary-part-kept", "The field is complex, and its imaginary part is only rounding: return .real.", 1,
        when=of.is_complex),
    WrongValues(
        "sign-of-the-laplacian", "The field has the wrong sign. Two derivatives of exp(ikx) give the factor (ik)² = -k².",
        1, like=of.flipped),
    WrongValues("cut-and-whole", TWICE, 1, when=of.transformed_twice),
    WrongValues(
        "frequency-is-no-wavenumber",
        "fftfreq counts waves per point; the derivative needs radians, 2π times as much.", 1, like=of.without_pi),
    WrongValues(
        "stencil-wavenumbers",
        "These are the eigenvalues of the five-point stencil; the exercise asks for the exact Laplacian, -k².", 1,
        like=of.by_differences),
    WrongCost(
        "left-in-columns",
        "The field is cut into columns. Reverse the first exchange on the way back, and the field is cut into rows again.",
        2, when=if_right(of.potential, lambda o: lies(o, None, "x"))),
    WrongCost(
        "goes-home-in-between",
        "There are more than two exchanges, and two are enough. Perhaps the spectrum was brought back to rows and sent out "
        "again: multiply by -1/k² while it is in columns.", 1,
        when=if_right(of.potential, lambda o: count(o, "all-to-all", part(o)) > 2)),
)  # fmt: skip

QUESTION = Question(
    "13.4", "Poisson's equation in k-space", difficulty=4, minutes=55,
    items=(
        ProgramItem("poisson", {"V": 9, "S": 3, "H": 6}, oracle=of.potential, names=of.steps,
                    misconceptions=POISSON, rtol=1e-3, atol=1e-3,
                    tolerance="float32 transforms there and back; the longest wave is divided by a small square",
                    slack=8, slack_reason="the density's mean, one number, may be subtracted before or after",
                    checks=(little_beside("exchanges", 8, "all-to-all", "collective-permute"),),  # 8 for the mean
                    cases=(of.field(LINE, 16, 40), of.field(WIDE, 12, 20), of.field(LINE, 24, 48)),
                    draw=of.draw_field),
    ),
    hints=(
        "In the middle a device holds all rows of some columns. Which columns are they, and which wavenumbers do they "
        "have?",
        "Wavenumbers of dimension 0 are whole, those of dimension 1 are cut like the columns. The spec P('x') cuts the "
        "array of all wavenumbers; axis_index with a slice does too.",
        "k0 = 2π fftfreq(n), k1 = 2π fftfreq(m); shard_map with in_specs (P('x'), P('x')) for density and k1. Where the "
        "square is zero, multiply by zero.",
    ),
    explanation="In k-space the Laplacian is a multiplication by -k², so a division solves the equation, entry by entry. "
                "Nothing moves for this division, whatever the sharding of the spectrum. One exchange brings the spectrum "
                "into columns, it is divided there, and one exchange brings the field back into rows.\n\nYou have to know "
                "which wavenumbers a device has. fftfreq of the block's width looks plausible and is wrong: it gives every "
                "device the same few waves, as if its block were the whole spectrum. If you cut the array of wavenumbers "
                "with the spec of the columns, they are right by construction. At k = 0 the equation only says that the "
                "density's mean cannot be balanced. The field's mean is free, and we choose zero.",
)  # fmt: skip
