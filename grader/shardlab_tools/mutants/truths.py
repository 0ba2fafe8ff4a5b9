"""What must be true of an answer for a misconception's sentence to be true of it, by the misconception's name.

A name says what kind of sentence it is: of values, of places, of what is sent, of an exception. A cause of values that is
told where values are right is false, and so is one of a gather in a program that gathers nothing, however well the wrong
answer that it was written for is recognised.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Callable

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.question import Item

EVERYBODY = frozenset({"all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute"})
SUMS = frozenset({"all-reduce", "reduce-scatter", "all-to-all"})


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What is known of an answer that was told a cause.

    `text` is the source of what the item's name leads to, `error` the exception if there was one; `seen` holds what was
    observed in some cases, with the letters that were lost there; `letters` are those lost in any.
    """

    item: Item
    text: str
    error: str = ""
    seen: tuple[tuple[Observed, frozenset[str]], ...] = ()
    letters: frozenset[str] = frozenset()

    @property
    def wrong(self) -> tuple[Observed, ...]:
        """The cases in which values are wrong."""
        return tuple(o for o, letters in self.seen if "V" in letters)

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives, in any case."""
        return frozenset().union(*(o.kinds for o, _ in self.seen))

    def lost(self, letter: str) -> bool:
        """Whether a letter was lost in some case."""
        return any(letter in letters for _, letters in self.seen)


Holds = Callable[[Evidence], bool]


def sends(*kinds: str) -> Callable[[Evidence], bool]:
    """Whether some case has a collective, or one of these kinds; what did not run sends nothing that anybody saw."""
    return lambda e: not e.seen or bool(e.kinds & set(kinds) if kinds else e.kinds)


def raised(words: str) -> Callable[[Evidence], bool]:
    """Whether an exception says so."""
    return lambda e: not e.error or re.search(words, e.error, re.IGNORECASE) is not None


def values(e: Evidence) -> bool:
    """Whether some value is wrong, where values are asked for."""
    return not e.seen or bool(e.error) or e.lost("V") or "V" not in e.item.points


def _cost(e: Evidence) -> bool:
    return not e.seen or any(map(e.lost, "HMFJ")) or bool(e.letters & set("HMFJ"))


def _place_or_cost(e: Evidence) -> bool:
    return not e.seen or any(map(e.lost, "VSHMFJ")) or bool(e.letters & set("VSHMFJ"))


def _compiler(e: Evidence) -> bool:
    return not e.seen or not all(o.manual for o, _ in e.seen)


def _constant(e: Evidence) -> bool:
    return re.search(r"\b[248](?:\.0)?\b", e.text) is not None


def _donates_otherwise(e: Evidence) -> bool:
    return _cost(e) and (re.search(r"donate_arg(?:nums|names)", e.text) is not None or not any(o.donated for o, _ in e.seen))


def _none_donated(e: Evidence) -> bool:
    return not any(o.donated for o, _ in e.seen)


def not_finite(e: Evidence) -> bool:
    """Whether some wrong value is no number, or is infinite."""
    return any(not np.isfinite(block).all() for o in e.wrong for shards in o.shards for _, _, block in shards)


def _complex(e: Evidence) -> bool:
    return not e.wrong or any(np.iscomplexobj(block) for o in e.wrong for shards in o.shards for _, _, block in shards)


def _exchanged_once(e: Evidence) -> bool:
    return all(sum(c.executions or 1 for c in o.collectives if c.kind == "all-to-all") <= 1 for o, _ in e.seen)


def _hops_in_rounds(e: Evidence) -> bool:
    """More lines of permutes than one in some case: no loop, or one that was written out."""
    return any(sum(c.kind == "collective-permute" for c in o.collectives) > 1 for o, _ in e.seen) or not e.seen


NAMES: tuple[tuple[str, Holds], ...] = (
    ("*left-to-the-compiler compiler-does-not-know compiler-detour", _compiler),
    ("promise-not-proved", raised("out_specs|vary|replicat|unreduced|manual")),
    ("carry-* accumulator-* branches-differ cast-again", raised("carry|body|scan|vary|unreduced|branch|type|pcast")),
    ("no-out-sharding clash-unresolved lookup-unresolved reshape-unresolved", raised("shard|spec|ambigu|reshape")),
    ("constraint-is-an-assert", raised("with_sharding_constraint|sharding|assert")),
    ("operands-swapped vector-looks-like-matrix wrong-dimension whole-bias-on-a-slice", raised("shape|dim|broadcast|divis")),
    ("split-not-divisible half-the-waves", raised("divi|split|shape")),
    ("maximum-differentiated", raised("pmax|differentia|jvp|transpose|rule")),
    (
        "brought-to-the-host mesh-set-inside mesh-not-static note-without-mesh two-entries custom-partitioning-stays-home "
        "list-as-axis spec-without-mesh still-a-text class-for-name nothing-fits slice-objects",
        raised(r"\w"),
    ),
    (
        "gathers gathers-* *-gathers *-gathered *-gathered-* gathered-* edges-for-everybody all-tokens-* "
        "everything-everywhere goes-home array-moved",
        sends(*EVERYBODY),
    ),
    (
        "all-reduce-* reduces-* summed-after-* one-flat-group sums-whole-rows-* panels-by-sum slices-averaged pmap-habit "
        "always-reduces reduced-twice summed-again squares-averaged psum-and-pmean whole-blocks-summed sums-padded-blocks "
        "padded-and-summed",
        sends(*SUMS),
    ),
    (
        "one-hop-too-many blocks-arrive-twice leaps-* ring-is-open sends-* halves-* whole-rows-in-a-ring still-one-way "
        "full-rotation-ring antipode-* all-round-both-ways sum-ends-next-door arrival-order whole-sums-travel",
        sends("collective-permute"),
    ),
    ("back-to-another-place", sends("all-to-all")),
    ("rows-again", sends("all-to-all", "collective-permute")),
    ("split-and-concat-swapped", lambda e: bool(e.error) or sends("all-to-all")(e)),
    (
        "communicates-for-nothing *-travel *-travels *-travels-* *-moved *-moves permutes-* moves-* meets-in-* columns-only "
        "rows-only rows-before-columns rounds-summed-apart brought-together-* a-turned-* slices-of-the-cut one-by-one "
        "uses-a-finished-* whole-vector-* third-dot-product residual-made-anew turns-the-factor across-the-whole-mesh "
        "other-order every-total-added scattered-over-* pays-* joins-* left-to-out-sharding out-shardings-free "
        "travels-again wide-numbers-sent whole-block-sent",
        sends(),
    ),
    ("no-exchange only-renamed", lambda e: not e.kinds),
    ("no-loop-left", _hops_in_rounds),
    ("answers-stay-away", _exchanged_once),
    ("one-hop-short", lambda e: values(e) or sends("collective-permute")(e)),
    ("nothing-drawn", values),
    ("divided-by-a-constant eight-devices", _constant),
    ("step-zero nothing-by-nothing", not_finite),
    ("imaginary-part-kept", _complex),
    ("nothing-donated", _none_donated),
    ("weights-not-donated state-not-donated not-all-donated shifted-by-one gradient-donated", _donates_otherwise),
    (
        "no-checkpoint whole-loss as-large-as-the-matrix gradients-whole state-on-every-device speeds-whole zeros-have-* "
        "same-place-for-both hop-under-a-condition rounds-unknown made-then-gathered half-an-all-reduce sums-in-one-go "
        "cut-the-other-way scattered-the-other-way left-in-* whole-everywhere whole-for-slices sum-not-cut sum-left-open "
        "sum-made-whole cut-at-the-end output-by-columns batch-over-* published-answer as-the-sum-leaves-it another-route "
        "constraint-deleted state-by-columns weights-cut blocks-repeated first-shard-only copies-as-parts never-pays "
        "rows-left-by-columns out-specs-as-before nothing-constrained weights-not-cut second-weight-left-open whole-batch-* "
        "resharded-* sum-already-paid bias-left-whole annotation-* placed-at-the-end tokens-over-* never-turned made-whole "
        "activations-cross-hosts flat-data-parallel whole-gradients-cross full-bytes-on-* a-number-beside most-* "
        "all-numbers-everywhere everything-anew second-cache heads-of-others-held all-scores-* exponentials-kept "
        "branch-skips",
        _place_or_cost,
    ),
)
"""Names of misconceptions, as patterns, and what must be true where one of them was told."""


def truths(name: str) -> list[Holds]:
    """The predicates of one name."""
    return [holds for names, holds in NAMES if any(fnmatch.fnmatchcase(name, n) for n in names.split())]
