"""The course at a glance: its chapters and exercises, read from the text of their declarations, and nothing is imported."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
import re
from collections.abc import Iterator

from shardlab_course import own
from shardlab_course.chapters import CHAPTERS, exercises

TITLES = {
    0: "First light",
    1: "Meshes, shardings, shards",
    2: "What communication costs",
    3: "Let the compiler",
    4: "Four cases of sharded matmul",
    5: "Sharding expressions",
    6: "Explicit sharding: shardings in types",
    7: "shard_map: the per-device view",
    8: "Collectives from ppermute",
    9: "Tensor-parallel MLP and attention",
    10: "Data parallelism and gradients",
    11: "FSDP, ZeRO and memory",
    12: "Overlap and collective matmul",
    13: "Distributed FFT and linear solve",
    14: "Many hosts, slow wires",
    15: "Capstone and casebook",
    16: "Serving: one token at a time",
    17: "Long context",
}
NOTEBOOKS = (
    "00_first_light", "01_meshes_and_shardings", "02_what_communication_costs", "03_let_the_compiler",
    "04_four_matmul_cases", "05_sharding_expressions", "06_explicit_sharding", "07_shard_map",
    "08_collectives", "09_tensor_parallel", "10_gradients", "11_fsdp_and_memory",
    "12_overlap", "13_fft_and_solve", "14_many_hosts", "15_capstone",
    "16_serving",
    "17_long_context",
)  # fmt: skip
STARS = {1: 1, 2: 1, 3: 2, 4: 3, 5: 3}
"""Of a declaration's difficulty."""
_HEAD = re.compile(r'^QUESTION = Question\(\s*(?:id=)?"[\d.]+",\s*(?:title=)?("(?:[^"\\]|\\.)*"),', re.MULTILINE)
_NUMBERS, _OPTIONAL = re.compile(r"\b(difficulty|minutes)=(\d+)\b"), re.compile(r"\boptional=True\b")


@dataclasses.dataclass(frozen=True)
class Exercise:
    """What a student sees of an exercise before it is opened; `stars` say how hard it is, 1 to 3."""

    id: str
    title: str
    stars: int
    minutes: int
    optional: bool

    @property
    def chapter(self) -> int:
        """The number before the point."""
        return int(self.id.partition(".")[0])


def outline() -> dict[int, tuple[Exercise, ...]]:
    """By chapter its exercises, in the order of the course."""
    return {chapter: tuple(_exercises(chapter)) for chapter in CHAPTERS}


def title(chapter: int) -> str:
    """The chapter's title; of an instructor's own, the words of its folder's name."""
    folder = own.folders().get(chapter)
    return (
        TITLES.get(chapter, "")
        if folder is None or chapter in TITLES
        else folder.name.partition("_")[2].replace("_", " ").capitalize()
    )


def notebook(chapter: int) -> str:
    """The file of a chapter's notebook, beside the others; empty for an instructor's own chapter."""
    return next((f"{name}.ipynb" for name in NOTEBOOKS if name.startswith(f"{chapter:02}_")), "")


def stars(difficulty: int) -> str:
    """A difficulty of 1 to 5 as one to three stars.

    Example:
        >>> stars(1), stars(3), stars(5)
        ('★☆☆', '★★☆', '★★★')
    """
    return drawn(STARS[difficulty])


def drawn(number: int) -> str:
    """So many stars of three."""
    return "★" * number + "☆" * (3 - number)


def _exercises(chapter: int) -> Iterator[Exercise]:
    for number, folder in exercises(chapter).items():
        path = folder / own.QUESTION
        yield _read(f"{chapter}.{number}", path, path.stat().st_mtime_ns)


@functools.cache
def _read(id: str, path: pathlib.Path, changed: int) -> Exercise:
    """The entry of the declaration in this file."""
    text = path.read_text(encoding="utf-8")
    head = _HEAD.search(text)
    given = dict(_NUMBERS.findall(text, head.start())) if head else {}
    if head is None or set(given) != {"difficulty", "minutes"}:
        return _imported(id)
    optional = _OPTIONAL.search(text, head.start()) is not None
    return Exercise(id, ast.literal_eval(head[1]), STARS[int(given["difficulty"])], int(given["minutes"]), optional)


def _imported(id: str) -> Exercise:
    """The same from the declared question, where the text has expressions."""
    from shardlab_course.chapters import question

    asked = question(id)
    return Exercise(id, asked.title, STARS[asked.difficulty], asked.minutes, asked.optional)
