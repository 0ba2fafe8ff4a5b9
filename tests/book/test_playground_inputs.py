"""Whatever is written or pasted into a playground, the page answers in words of ours, and says what to write."""

from __future__ import annotations

import html
import json
import random
import re
import subprocess
import sys
from pathlib import Path

from shardlab import listings

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "jupyter_book"))

import playground  # noqa: E402
import playgrounds  # noqa: E402

NINES = "9" * 5000
TEXT = listings.hlo("ring_tpu")
FITTING = {"mesh": "x=2, y=4", "shape": "8, 16", "said": "P('x', None)"}
PLACES = {
    "mesh": (
        "", ",", "x", "x=", "x=0", "x=-1", "x=2, x=2", "x=1.5", "x=\u00b2", "x=\u0663", f"x={NINES}", "<u>=2", "for=2",
        "x=65", "x=2; y=4",
    ),
    "shape": (
        "", "0", "0, 8", "-1", "8", "8,16,4", "2," * 30, "8.0, 16", "\u00b2", NINES, "65", "<u>", "8 16", "64,64,64,64",
    ),
    "said": (
        "", "->", "a ->", "-> a", "a b", "P", "P(", "P('x'", "P(1)", "P(x)", "P('x','y','z')", "P('x','x')", "P(('x','x'))",
        "P(['x'])", "P(('x', 'y'))", "P({})", "P('')", "P(())", "P(...)", "P(b'x')", "P.UNCONSTRAINED", "__import__('os')",
        "(" * 5000, "P('q')", "P(('x','y'),)", "jax.sharding.PartitionSpec('x')", "a b -> 2000000000 a b",
        f"a b -> a{NINES} b", "a b -> " + "a " * 2000, "a b \u2192 a@x b", "<script>alert(1)</script> -> a",
        "a b -> a@x b\x00", "... -> ...", "'" * 9, "a b -> a@x b -> a", "P('x', None, *y)", "lambda: 0",
    ),
}  # fmt: skip
NO_PROGRAMS = (
    "", "\n" * 9, "hello", "HloModule", "{}" * 500, "\x00", "x = " * 90_000, "(" * 100_000, "a" * (playground.LONGEST + 1),
    "%a = f32[] add(%b, %c)", "module @jit_f attributes {} {\n func.func public @main() {\n return }\n}",
    "Traceback (most recent call last):",
)  # fmt: skip
MENDED = re.compile(r"^  mend: |: (?:write|give|leave|make|paste|change|use|an entry is) ", re.MULTILINE)
FOREIGN = re.compile(r"Traceback|invalid literal|Exceeds the limit|unhashable|has no attribute|NoneType|<script|<u>")
"""Python's own messages, and what was written as markup."""


ALONE = """
import json, sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in {*sys.stdlib_module_names, "shardlab", "shardlens", "playground"} and root[0] != "_":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Nowhere())
sys.path.insert(0, sys.argv[1])
import playground
json.dump([playground.answered(name, **given) for name, given in json.load(sys.stdin)], sys.stdout)
"""
"""The playgrounds in a Python that has the package and no other, as the one in a browser."""


def said_by(name: str, **given: str) -> str:
    """What a playground shows; an error says what to do."""
    said = playground.answered(name, **given)
    fault = said.startswith('<pre class="play-fault">')
    assert not fault or MENDED.search(said), (given, said)
    assert not FOREIGN.search(said.replace("Traceback (most", "")) and len(said) < 200_000, (given, said)
    return said


def test_no_other_package_is_needed() -> None:
    """What stands in each form at first, and a spec, say the same where there is neither JAX, NumPy nor rich."""
    first = {name: {f.name: f.value for f in fields if f.name != "speed"} for name, fields in playgrounds.FORMS.items()}
    asked = [*first.items(), ("place", FITTING), ("place", FITTING | {"said": "é ->"})]
    command = [sys.executable, "-c", ALONE, str(ROOT / "jupyter_book")]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    due = [playground.answered(name, **given) for name, given in asked]
    assert json.loads(done.stdout) == due and "".join(due).count("play-fault") == 1


def test_each_odd_text_beside_what_fits() -> None:
    """A mesh, a shape, a spec and an expression, each wrong by itself."""
    for name, texts in PLACES.items():
        for text in texts:
            for said in ("P('x', None)", "rows columns -> rows@x columns"):
                said_by("place", **{**FITTING, "said": said, name: text})


def test_odd_texts_together() -> None:
    """Drawn for all three inputs at once."""
    rng = random.Random(3)
    for _ in range(300):
        said_by("place", **{name: rng.choice(texts) for name, texts in PLACES.items()})


def test_a_spec_that_does_not_fit_is_told_as_such() -> None:
    """By its axis, its length, its sizes."""
    for spec, due in {
        "P('q')": "names the axis 'q', and the mesh has x, y",
        "P('x', 'x')": "names the axis 'x' twice",
        "P('x', None, 'y')": "more entries than the array has dimensions, 3 and 2",
        "P(None, ('x', 'y', 'z'))": "names the axis 'z'",
    }.items():
        assert due in html.unescape(said_by("place", **{**FITTING, "said": spec}))
    assert "make it a multiple of 8" in said_by("place", **{**FITTING, "shape": "4, 16", "said": "P(('x', 'y'))"})
    assert said_by("place", **{**FITTING, "said": "P(('x', 'y'))"}) == said_by(
        "place", **{**FITTING, "said": "(('x', 'y'),)"}
    )
    long = said_by("place", **{**FITTING, "said": "jax.sharding.PartitionSpec('x')"})
    assert long == said_by("place", **{**FITTING, "said": "P('x')"}) and "play-fault" not in long


def worn(rng: random.Random, text: str) -> str:
    """A program's text as it comes out of terminals and mails: cut, in another order, without some of its characters."""
    lines = text.split("\n")
    match rng.randrange(6):
        case 0:
            return text[: rng.randrange(len(text))]
        case 1:
            return text[rng.randrange(len(text)) :]
        case 2:
            return "\n".join(line for line in lines if rng.random() < 0.8)
        case 3:
            return "\n".join(rng.sample(lines, len(lines)))
        case 4:
            return "".join(c for c in text if rng.random() > 0.002)
        case _:
            return "".join(rng.choice("{}[]()=,%09x\n") if rng.random() < 0.002 else c for c in text)


def test_the_lens_refuses_what_is_no_program() -> None:
    """Words, other languages, too much, nothing."""
    for text in NO_PROGRAMS:
        assert "play-fault" in said_by("lens", text=text, mesh="")


def test_the_lens_answers_worn_programs() -> None:
    """Programs for CPU and TPU with parts missing or changed; of many the collectives can still be read."""
    rng = random.Random(7)
    texts = [path.read_text() for path in sorted((ROOT / "lens" / "tests" / "hlo").rglob("*.txt"))]
    assert len(texts) > 50
    read = [said_by("lens", text=worn(rng, rng.choice(texts)), mesh=rng.choice(("", "x=2, y=4", "x=8"))) for _ in range(250)]
    assert 50 < sum("play-fault" not in said for said in read) < 250


def test_the_lens_reads_on_where_it_can() -> None:
    """Blank lines before a text change nothing; one that is in no order has its collectives, and no schedule."""
    whole = said_by("lens", text=TEXT, mesh="")
    assert said_by("lens", text=f"\n\n  {TEXT}\n", mesh="") == whole and "The schedule" in whole
    unordered = said_by("lens", text=TEXT.replace("is_scheduled=true, ", "", 1), mesh="")
    assert "collectives: 7" in unordered and "There is no schedule: the operations" in unordered


def test_nothing_else_is_written_by_hand() -> None:
    """What a form offers beside these is chosen from a list or by a slider, in every combination of its ends."""
    for kind in ("all-gather", "all-to-all"):
        for n, both in (("2", "yes"), ("8", "no")):
            for nbytes in ("1", "1e300", "1,000", "0", "-1", "", "nan", NINES, "1e", "0x10", "\u0663"):
                said_by("ring", kind=kind, n=n, both=both, step="14", nbytes=nbytes, on="v5e")
                said_by("cost", on="v4", kind=kind, nbytes=nbytes, n=n, both=both)
