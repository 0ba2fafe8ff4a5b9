"""Chapter 13, exercise 13.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch13.ex04 import oracle as of
from shardlab_course.ch13.shared import LINE, SWAPPED, UNTILED, WIDE, all_of_it, count, if_right, lies
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

RFFT = WrongProgram(
    "half-the-waves",
    "rfft leaves n // 2 + 1 waves of n points, and the mesh axis does not divide these. Use fft, or pad the waves "
    "before the exchange.", 2, error=r"split_axis \((11|17|21)\) has to be divisible")  # fmt: skip
POISSON = (
    all_of_it(of.potential), RFFT, SWAPPED, UNTILED,
    WrongValues(
        "local-index-as-global",
        "Each device numbered the columns of its block from zero. In k-space device d's columns begin at d times their "
        "number, and so do its wavenumbers.", 1, when=of.numbered_locally),
    WrongValues(
        "zeroed-on-every-device",
        "Each device zeroed entry [0, 0] of its own block. That is wavenumber zero on the first device alone; zero where "
        "k² is.", 1, when=of.zeroed_everywhere),
    WrongValues(
        "no-negative-waves", "Wavenumbers were counted up to the last. The second half of them are negative: see fftfreq.",
        1, like=of.without_negative),
    WrongValues(
        "divides-by-zero",
        "At wavenumber zero the square is zero, and the quotient is not finite; the inverse transform spreads it over the "
        "whole field. Set that one entry to zero.", 2,
        when=lambda o: not all(np.isfinite(block).all() for _, _, block in o.shards[0])),
    WrongValues(
        "mean-kept",
        "The field has a mean: the entry of wavenumber zero was divided by something else, and not set to zero.",
        2, when=of.another_mean),
    WrongValues(
        "imaginary-part-kept", "The field is complex, and its imaginary part is rounding: return .real.", 1,
        when=of.is_complex),
    WrongValues(
        "sign-of-the-laplacian", "Two derivatives of exp(ikx) bring (ik)² = -k²; the minus is missing.", 1, like=of.flipped),
    WrongValues(
        "frequency-is-no-wavenumber",
        "fftfreq counts waves per point; the derivative needs radians, 2π times as much.", 1, like=of.without_pi),
    WrongValues(
        "stencil-wavenumbers",
        "These are the eigenvalues of the five-point stencil; asked for is the Laplacian itself, -k².", 1,
        like=of.by_differences),
    WrongCost(
        "left-in-columns",
        "The field lies in columns. The way back through k-space ends where it began if its exchange is the reverse of the "
        "first.", 2, when=if_right(of.potential, lambda o: lies(o, None, "x"))),
    WrongCost(
        "goes-home-in-between",
        "The spectrum was brought home and sent out again. Multiply by -1/k² where it lies, in columns: two exchanges are "
        "enough.", 1, when=if_right(of.potential, lambda o: count(o, "all-to-all") > 2)),
)  # fmt: skip

QUESTION = Question(
    "13.4", "Poisson's equation in k-space", difficulty=4, minutes=55,
    items=(
        ProgramItem("poisson", {"V": 1.5, "S": 0.5, "H": 1}, oracle=of.potential,
                    misconceptions=POISSON, rtol=1e-3, atol=1e-3,
                    tolerance="float32 transforms there and back; the longest wave is divided by a small square",
                    slack=8, slack_reason="the density's mean, one number, may be taken off before or after",
                    cases=(of.field(LINE, 16, 40), of.field(WIDE, 12, 20), of.field(LINE, 24, 48)),
                    draw=of.draw_field),
    ),
    hints=(
        "In the middle a device holds all rows of some columns. Which columns, and which wavenumbers are theirs?",
        "Wavenumbers of dimension 0 are whole, those of dimension 1 cut like the columns. The spec P('x') on the array of "
        "all of them cuts them; axis_index with a slice does too.",
        "k0 = 2π fftfreq(n), k1 = 2π fftfreq(m); shard_map with in_specs (P('x'), P('x')) for density and k1. Where the "
        "square is zero, multiply by zero.",
    ),
    explanation="In k-space the Laplacian is a multiplication by -k², so the equation is solved by a division, entry by "
                "entry: nothing moves for it, wherever the spectrum lies. It lies in columns after one exchange, is "
                "divided there, and one exchange brings the field home.\n\nWhat must be known is which wavenumbers a device "
                "has. fftfreq of the block's width is as plausible as it is wrong: it gives every device the same few "
                "waves, as if its block were the whole spectrum. Cut the array of wavenumbers with the same spec as the "
                "columns, and the question does not arise. At k = 0 the equation says nothing but that the density's mean "
                "cannot be balanced; the field's mean is free, and is chosen to be zero.",
)  # fmt: skip
