"""Pod golf: entries have the plain program's values, and the leaderboard is theirs."""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
from functools import partial

import jax
import jax.numpy as jnp
import pytest

from shardlab_tools.golf import kept, model
from shardlab_tools.golf.__main__ import charged
from shardlab_tools.golf.entry import Entry, read
from shardlab_tools.golf.score import TARGETS, Score, differences, score

ROOT = pathlib.Path(__file__).parents[1]
FILES = sorted((ROOT / "jupyter_book" / "golf").glob("*.py"))
FIRST = ROOT / "jupyter_book" / "golf" / "kept.py"


@pytest.fixture
def entry() -> Entry:
    """An entry that is right."""
    return read(FIRST)


@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem, marks=[pytest.mark.thorough] * (p != FIRST)) for p in FILES])
def test_entries_train_as_the_plain_program_does(path: pathlib.Path) -> None:
    """Losses and weights after three steps on eight devices."""
    assert differences(read(path)) == []


def half_the_batch(*given: jax.Array, **hooks: object) -> object:
    """A step that leaves out half of the samples."""
    tokens, weights, speeds = given
    return model.step(tokens[: len(tokens) // 2], weights, speeds, **hooks)


def no_momentum(tokens: jax.Array, weights: model.Arrays, speeds: model.Arrays) -> object:
    """A step that forgets its speeds."""
    return model.step(tokens, weights, jax.tree.map(jnp.zeros_like, speeds))


def head_left_out(x: jax.Array) -> jax.Array:
    """Vectors of which the first feature is lost on the way back."""
    return jnp.concatenate([jax.lax.stop_gradient(x[..., :1]), x[..., 1:]], -1)


@pytest.mark.parametrize(
    "step", [half_the_batch, no_momentum, partial(model.step, vectors=head_left_out)], ids=["batch", "momentum", "gradient"]
)
@pytest.mark.thorough(after=1)
def test_a_wrong_step_is_not_charged(step: object, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each array that is off."""
    wrong = dataclasses.replace(entry, step=step)
    found = differences(wrong)
    assert any(line.startswith("W1 is off by") for line in found)
    monkeypatch.setattr("shardlab_tools.golf.__main__.read", lambda path: wrong)
    assert charged(FIRST, [*TARGETS]) is None


def test_the_leaderboard_is_of_these_files() -> None:
    """`make golf` was run after the last change, and what fits is ranked by its time."""
    found = json.loads((ROOT / kept.FILE).read_text())
    assert {name: each["of"] for name, each in found["entries"].items()} == {
        path.stem: kept.fingerprint(path) for path in FILES
    }
    for target, devices in TARGETS.items():
        ranked = kept.scores(found, target)
        assert {*ranked} == {path.stem for path in FILES if devices in read(path).axes}
        fits = [each for each in ranked.values() if each.fits]
        assert [each.milliseconds for each in fits] == sorted(each.milliseconds for each in fits)
        assert all(each.overlapped <= each.milliseconds and each.moving <= each.milliseconds for each in ranked.values())


def test_a_card_receives_less_than_a_chip() -> None:
    """Weights are gathered twice, and only XLA for TPU brings whole gradients to each device."""
    found = json.loads((ROOT / kept.FILE).read_text())["entries"]["gathered"]
    shapes = model.shapes(model.POD)
    layers = sum(2 * math.prod(shapes[name]) for name in ("A", "C", "W1", "W2"))
    assert found["v5e:16x16"]["received"] >= 3 * layers > found["h100:8x8"]["received"] >= 2 * layers


def test_the_page_says_how_large_the_model_is() -> None:
    """Its layers, its weights with their shapes, the batch, and the sizes of the check."""
    shapes, small = model.shapes(model.POD), model.SMALL
    page = (ROOT / "jupyter_book" / "golf.md").read_text()
    weights = sum(map(math.prod, shapes.values()))
    rows = [
        f"{model.POD.layers} layers and {weights / 1e9:.1f} billion weights",
        *(f"| `{shape}` |" for shape in shapes.values()),
        f"{model.POD.batch} rows of {model.POD.length + 1:,} tokens",
        f"the batch is {small.batch}, the length {small.length}, the depth {small.depth}, and the model has "
        f"{small.layers} layers, {small.heads} heads of {small.head} features, "
        f"{small.hidden} hidden units and {small.words} words",
    ]
    assert [row for row in rows if row not in page] == []


def test_a_place_is_counted_among_those_that_fit() -> None:
    """An equal time shares the place; what needs more than the chip has gets none."""
    made = Score(100.0, 60.0, 40.0, 10**9, 15 * 10**9, 16 * 10**9)
    large = made._replace(peak=17 * 10**9, milliseconds=1.0)
    assert kept.place(made, [made._replace(milliseconds=90.0), made, large]) == "place 2 of 3"
    assert kept.place(large, [made]) == "it does not fit, so it has no place"
    assert kept.told(made) == "100 ms if nothing overlaps, 60 ms if everything does; 1.0 GB received; peak 15.0 of 16 GB"


def test_what_a_file_lacks_is_said(tmp_path: pathlib.Path) -> None:
    """Names that are missing, weights that the model has not, a mesh that a pod needs."""
    file = tmp_path / "mine.py"
    file.write_text('"""Mine."""\nfrom jax import P\nAXES = {8: {"data": 8}}\nTOKENS = P("data")\n')
    with pytest.raises(ValueError, match=r"mine\.py has no WEIGHTS; .*whole\.py is an entry to copy"):
        read(file)
    file.write_text(file.read_text() + 'WEIGHTS = {"E": P(), "W3": P()}\n')
    with pytest.raises(ValueError, match="has E, W3; the model's weights are E, A, C, W1, W2, U"):
        read(file)
    with pytest.raises(ValueError, match="no mesh of 64 devices, which h100:8x8 needs"):
        score(dataclasses.replace(read(FIRST), axes={8: {"data": 8}}), "h100:8x8")


@pytest.mark.programs
@pytest.mark.tpu
def test_figures_are_those_of_the_compiler() -> None:
    """Compiled again for the pod, the first entry has the figures that are kept."""
    found = kept.scores(json.loads((ROOT / kept.FILE).read_text()), "v5e:16x16")
    with jax.numpy_dtype_promotion("standard"):  # as `make golf` and those who make entries have it
        made = score(read(FIRST), "v5e:16x16")
    assert made == pytest.approx(found[FIRST.stem])
