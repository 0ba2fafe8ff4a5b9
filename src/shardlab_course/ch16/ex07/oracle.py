"""Chapter 16, exercise 16.7: its oracle, which walks along each sequence, its cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from shardlab_course.ch16.shared import carries, devices, drawn_mesh, same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

Pair = tuple[np.ndarray, np.ndarray]
AGREES, DIFFERS, EQUAL = 0, 1, 2
"""What the target says to a proposal; `EQUAL`: another token, of a lower number, has the same logit."""


def accept(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """How many proposals of each sequence are accepted, and the target's own token after these."""
    counts, tokens = [], []
    for proposed, rows in zip(draft, logits):
        count = 0
        while count < len(proposed) and proposed[count] == rows[count].argmax():
            count += 1
        counts.append(count)
        tokens.append(rows[count].argmax())
    return np.asarray(counts, np.int32), np.asarray(tokens, np.int32)


def prefix(agree: np.ndarray) -> np.ndarray:
    """How many agreements each row begins with."""
    return np.asarray(np.cumprod(agree, axis=1).sum(1))


def with_count(chosen: np.ndarray, count: np.ndarray, shift: int = 0) -> Pair:
    """A count, and of the target's tokens the one at the place of the count, or `shift` places further on."""
    places = np.clip(count + shift, 0, chosen.shape[1] - 1)
    return count.astype(np.int32), chosen[np.arange(len(chosen)), places].astype(np.int32)


def accepted(draft: np.ndarray, chosen: np.ndarray, shift: int = 0) -> Pair:
    """The answer if these are the target's tokens."""
    return with_count(chosen, prefix(draft == chosen[:, :-1]), shift)


def all_agreements(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """Agreements counted wherever they are."""
    chosen = logits.argmax(-1)
    return with_count(chosen, (draft == chosen[:, :-1]).sum(1))


def none_when_all_agree(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """The first difference, and 0 where there is none."""
    chosen = logits.argmax(-1)
    agree = draft == chosen[:, :-1]
    return with_count(chosen, np.where(agree.all(1), 0, prefix(agree)))


def own_token_counted(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """A count that is one too large, with the right token."""
    count, token = accept(logits, draft)
    return count + 1, token


def shortest(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """The shortest count, for all sequences."""
    count, _ = accept(logits, draft)
    return with_count(logits.argmax(-1), np.full_like(count, count.min()))


def row_after(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """Each proposal compared with what the target says after it."""
    chosen = logits.argmax(-1)
    return with_count(chosen, prefix(draft == chosen[:, 1:]))


def last_of_equals(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """Of equal logits the token with the highest number."""
    return accepted(draft, logits.shape[-1] - 1 - logits[..., ::-1].argmax(-1))


def numbers_added(logits: np.ndarray, draft: np.ndarray) -> Pair:
    """Of equal logits the sum of the tokens' numbers."""
    largest = logits == logits.max(-1, keepdims=True)
    return accepted(draft, (largest * np.arange(logits.shape[-1])).sum(-1))


def own_part(at: Mapping[str, int], part: np.ndarray, draft: np.ndarray) -> Pair:
    """What a device accepts that knows its own logits only."""
    return accepted(draft, part.argmax(-1) + at["x"] * part.shape[-1])


def another_row(o: Observed) -> bool:
    """Whether the token comes from the row before or after the right one."""
    logits, draft = o.inputs
    return any(same(o, accepted(draft, logits.argmax(-1), shift)) for shift in (-1, 1))


def in_part(o: Observed) -> bool:
    """Whether the target's tokens are numbered from the beginning of the part that has them."""
    logits, draft = o.inputs
    return same(o, accepted(draft, logits.argmax(-1) % (logits.shape[-1] // devices(o))))


def anybodys(o: Observed) -> bool:
    """Whether proposals passed that are the largest of some part."""
    logits, draft = o.inputs
    parts = np.split(logits, devices(o), axis=-1)
    own = np.stack([part.argmax(-1) + i * part.shape[-1] for i, part in enumerate(parts)])
    return same(o, with_count(logits.argmax(-1), prefix((own[..., :-1] == draft).any(0))))


def logits_move(o: Observed) -> bool:
    """Whether a collective carries as many numbers as all logits."""
    return carries(o, o.inputs[0].size)


def two_largest(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Logits with two equal largest ones in each row: in the first and in the last quarter of the vocabulary."""
    logits, quarter = rng.standard_normal(shape), shape[-1] // 4
    largest = logits.max() + 1
    for begin in (0, 3 * quarter):
        np.put_along_axis(logits, rng.integers(begin, begin + quarter, (*shape[:-1], 1)), largest, axis=-1)
    return logits


def proposals(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Tokens of which the target accepts all, one, one and none in the first four sequences.

    In three of them it agrees again after it has differed. The fourth begins with what the target says one row later.
    """
    logits = before[0][:, :-1]
    tokens = logits.shape[-1]
    first, last = logits.argmax(-1), tokens - 1 - logits[..., ::-1].argmax(-1)
    said = rng.choice(3, shape, p=(0.6, 0.2, 0.2))
    said[:3, 0], said[3, 0] = AGREES, DIFFERS
    said[0], said[1:4, 1], said[1:4, 2] = AGREES, (DIFFERS, EQUAL, AGREES), AGREES
    draft = np.choose(said, (first, rng.integers(tokens // 2, 3 * tokens // 4, shape), last))
    draft[3, 0] = first[3, 1]
    return draft


def case(mesh: Axes, batch: int, rows: int, tokens: int) -> Case:
    """Logits with their tokens cut over x, whole proposals, and both outputs whole."""
    given = Input((batch, rows, tokens), (None, None, "x"), values=two_largest)
    return Case(mesh, (given, Input((batch, rows - 1), (), "int32", values=proposals)), ((), ()))


def draw(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh, n = drawn_mesh(rng)
    return case(mesh, rng.randint(4, 6), rng.randint(4, 7), 4 * n * rng.randint(3, 8))


def candidates(o: Observed) -> int:
    """Bytes beyond two all-reduces that a gather takes in their place, of a logit and a token from each device."""
    batch, rows, _ = o.case.inputs[0].shape
    return 0 if "all-reduce" in o.kinds else max(0, 2 * dict(o.case.axes)["x"] - 4) * 4 * batch * rows
