"""What is made on one processor holds on another, by the commands people use: lock files, guards, releases, verdicts."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from shardlab_grader.own import new
from shardlab_grader.records.store import Record
from shardlab_tools.portable import isa

ROOT = pathlib.Path(__file__).parents[1]
PAIRS = [("SSE4_2", "AVX2"), ("AVX2", "SSE4_2")]
ROUNDED = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_platforms", "cpu")
x = np.random.default_rng(1).standard_normal((64, 48), np.float32)
print(np.asarray(jax.jit(lambda x: jnp.exp(x) * x + x)(x)).tobytes().hex())
"""
GUARDED = """
import jax, jax.numpy as jnp, numpy as np
import shardlab as sl
from shardlens.guards.assertions import assert_communicates
jax.config.update("jax_num_cpu_devices", 8)
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
at = lambda *entries: jax.NamedSharding(mesh, jax.P(*entries))
draw = np.random.default_rng(3).standard_normal
x, w = jax.device_put(draw((48, 96), np.float32), at("x", "y")), jax.device_put(draw((96, 40), np.float32), at("y", None))

def step(x, w):
    h = jax.nn.softmax(jnp.tanh(x @ w) * 3, axis=0)
    return (h * jnp.exp(-h)).astype(jnp.bfloat16).sum(1), h.T @ h

def test_lock(shardlens_lock):
    shardlens_lock(step, x, w)

def test_guards():
    program = assert_communicates(step, x, w, kinds=("all-reduce",))
    h = np.tanh(np.asarray(x, np.float64) @ np.asarray(w, np.float64)) * 3
    h = np.exp(h) / np.exp(h).sum(0)
    facts = sl.facts(lambda x, w: step(x, w)[1], x, w, right=h.T @ h)
    assert facts["error"] < 1e-5 and facts["price"] <= program.price
"""
SOLUTION = "return jnp.exp(x) * jnp.tanh(x)"
CHANGED = {
    "return x + x": "return np.exp(x) * np.tanh(x)",
    "return 2 * x\n    ### END": f"{SOLUTION}\n    ### END",
}
"""In the chapter that the grader's command `new` begins, so that something is rounded."""
HAND_INS = {
    "ada": SOLUTION,
    "bo": "return jnp.sinh(x) * 2 / (1 + jnp.exp(-2 * x))",
    "cy": "return x + 1",
    "di": "return 2 * x",
}
GRADER = """
import sys
from shardlab_grader.sandbox import box
from shardlab_grader.cli import main
before, flags = box._environment, sys.argv.pop(1)
box._environment = lambda sandbox, home: before(sandbox, home) | {"XLA_FLAGS": flags}
main()
"""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="XLA's flag names processors of x86 alone"),
]


def ran(folder: pathlib.Path, processor: str, *words: str) -> str:
    """What a Python prints on a processor of this sort; it must end well."""
    packages = os.pathsep.join(str(ROOT / name) for name in ("src", "grader"))
    environment = os.environ | {"XLA_FLAGS": isa(processor) or "", "PYTHONPATH": packages, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_processors_round_differently(tmp_path: pathlib.Path) -> None:
    """Or this file would prove nothing."""
    first, second = (ran(tmp_path, processor, "-c", ROUNDED) for processor in PAIRS[0])
    assert first != second


@pytest.mark.parametrize(("made", "held"), PAIRS)
def test_a_lock_file_and_a_guard(made: str, held: str, tmp_path: pathlib.Path) -> None:
    """Written on one processor, a lock file holds on the other, where it would be written the same; guards hold on both."""
    (tmp_path / "test_model.py").write_text(GUARDED)
    pytest_there = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    lock = tmp_path / "__shardlens__" / "test_model.test_lock.json"
    ran(tmp_path, made, *pytest_there, "--shardlens-update")
    written = lock.read_bytes()
    said = ran(tmp_path, held, *pytest_there)
    assert "2 passed" in said and "not as locked" not in said
    ran(tmp_path, held, *pytest_there, "--shardlens-update")
    assert lock.read_bytes() == written and json.loads(written)["price"] > 0


@dataclasses.dataclass(frozen=True)
class Course:
    """A course directory on one processor."""

    folder: pathlib.Path
    processor: str

    def command(self, *words: str, processor: str = "") -> str:
        """What a command of the grader prints, whose sandboxes are on that processor too."""
        there = processor or self.processor
        return ran(self.folder.parent, there, "-c", GRADER, isa(there) or "", *words, "--course", str(self.folder))

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """By key what is in the store, but for the seconds that it took."""
        read = {path.stem: json.loads(path.read_text()) for path in (self.folder / "shardlab" / "verdicts").glob("*.json")}
        return {name: {part: raw[part] for part in raw if part != "seconds"} for name, raw in read.items()}

    @property
    def references(self) -> str:
        """The file of the release."""
        (path,) = (self.folder / "shardlab").glob("*.references.json")
        return path.read_text()


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, Course]]:
    """A chapter of an instructor's own, released with one seed on both processors, and graded on the first."""
    place = tmp_path_factory.mktemp("courses")
    chapter = place / "50_rounding"
    for path in new.write(chapter):
        text = path.read_text()
        for before, after in CHANGED.items():
            text = text.replace(before, after)
        path.write_text(text)
    first, second = (Course(place / name, name) for name in PAIRS[0])
    first.command("release", str(chapter))
    for student, answer in HAND_INS.items():
        notebook = nbformat.read(first.folder / "release" / chapter.name / f"{chapter.name}.ipynb", as_version=4)
        cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
        cells["q50-1-answer"].source = f"def twice(mesh, x):\n    {answer}"
        (first.folder / "submitted" / student / chapter.name).mkdir(parents=True)
        nbformat.write(notebook, first.folder / "submitted" / student / chapter.name / f"{chapter.name}.ipynb")
    shutil.copytree(first.folder, second.folder)
    second.command("release", str(chapter))
    assert "4 submissions: 4 graded, 0 ungraded" in first.command("grade", "50")
    yield first, second


@pytest.mark.sandbox
def test_a_release_is_the_same(courses: tuple[Course, Course]) -> None:
    """The programs of the solution, and what they cost."""
    first, second = courses
    assert first.references == second.references and '"flops"' in first.references


@pytest.mark.sandbox
def test_verdicts_are_the_same(courses: tuple[Course, Course]) -> None:
    """The same points and findings under the same key: right programs pass however they round, and wrong ones fail."""
    first, second = courses
    assert "4 submissions: 4 graded, 0 ungraded" in second.command("grade", "50")
    assert first.verdicts == second.verdicts and len(first.verdicts) == 4
    points = [Record.from_json(one).points for one in first.verdicts.values()]
    assert sorted(points) == [0, 0, 2, 2]


@pytest.mark.sandbox
def test_no_verdict_is_given_twice(courses: tuple[Course, Course]) -> None:
    """Who grades on where another began judges nothing again."""
    first, second = courses
    said = first.command("grade", "50", processor=second.processor)
    assert "as before, and not listed without --verbose: 4" in said
