"""The command `shardlens`: what it prints, its exit statuses, and what it says of mistakes."""

import importlib.util
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import shardlens
from shardlens import doctor
from shardlens.arguments import mesh_axes, read_arguments
from shardlens.command import _parser, _slice
from shardlens.command import lens_command as main
from shardlens.compilers import cards, topology
from shardlens.errors import LensError

MODEL = """
import jax
def step(a, b):
    return a @ b
def step_example():
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    at = lambda shape, *spec: jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh, jax.P(*spec)))
    return at((64, 128), "x", "y"), at((128, 64), "y")
def held(a):
    return a
held_example = 3
class Model:
    @staticmethod
    def step(a, b):
        return a @ b
    step_example = staticmethod(step_example)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with `model_of_test.py` in it, the working directory."""
    (tmp_path / "model_of_test.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ARGS = ["--args", "float32[64,128]@x,y; float32[128,64]@y,_", "--mesh", "x=2,y=4"]


@pytest.mark.parametrize("more", [[], ARGS], ids=["example", "args"])
def test_inspect(folder: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The table of the program, with arguments of its own or of the command line."""
    assert main(["inspect", "model_of_test:step", *more, "--cost", "v5e", "--hlo", "out.txt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == "all-reduce f32[32,64] y 4 8,192 1 8,192 16,384".split()
    assert "model_of_test.py:4: 1 all-reduce" in lines  # below the table, as a file is 80 characters wide
    assert any(line.startswith("bound by") for line in lines) and "ENTRY" in (folder / "out.txt").read_text()


@pytest.mark.parametrize("command", ["inspect", "why"])
def test_what_the_function_raises(folder: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The function's own line and the error, no traceback, and the status of a mistake."""
    (folder / f"raises_in_{command}.py").write_text(MODEL.replace("return a @ b", "return undefined + a", 1))
    assert main([command, f"raises_in_{command}.py:step"]) == 1
    said = capsys.readouterr().err
    assert (
        "    return undefined + a" in said and "Error: " in said and "Traceback" not in said and len(said.splitlines()) < 12
    )


WRONG = {
    "few": ("inspect", "def step(a, b, c):", "step() missing 1 required positional argument: 'c'"),
    "many": ("why", "def step(a):", "step() takes 1 positional argument but 2 were given"),
    "both": ("diverge", "def step(a):", "step() takes 1 positional argument but 2 were given"),
    "example": ("inspect", "def step_example(n):", "step_example() missing 1 required positional argument: 'n'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_function_of_other_arguments(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its first line, which no frame has, and the error, no traceback."""
    command, line, words = WRONG[case]
    old = "def step(a, b):" if "example" not in line else "def step_example():"
    (folder / f"{case}_of_test.py").write_text(MODEL.replace(old, line, 1))
    name = f"{case}_of_test.py:step"
    assert main([command, *[name] * (1 + (command == "diverge"))]) == 1
    at, shown, said, *notes = capsys.readouterr().err.splitlines()
    assert at.startswith("line ") and f"of {case}_of_test.py" in at and shown == f"    {line}"
    assert said == f"TypeError: {words}" and (case != "few" or notes == [
        "while inspect lowered and compiled step(float32[64, 128], float32[128, 64])"
    ])  # fmt: skip


def test_a_file_that_is_no_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its line with a caret, as Python shows it, and no frames of Shardlens."""
    (folder / "syntax_of_test.py").write_text("x = 1\ndef step(a:\n    return a\n")
    assert main(["inspect", "syntax_of_test.py:step"]) == 1
    at, line, caret, said = capsys.readouterr().err.splitlines()
    assert "syntax_of_test.py" in at and at.endswith("line 2") and line.strip() == "def step(a:" and caret.strip() == "^"
    assert said == "SyntaxError: '(' was never closed"


def test_a_fault_of_ours_has_its_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came through no line of the user's, and is about no function of theirs, is raised again."""
    monkeypatch.setattr(shardlens, "inspect", len)
    with pytest.raises(TypeError, match=r"len\(\) takes no keyword arguments"):
        main(["inspect", "model_of_test:step"])


def test_a_module_that_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own line that raised when it was imported."""
    (folder / "broken_of_test.py").write_text("x = undefined\n")
    assert main(["inspect", "broken_of_test.py:step"]) == 1
    assert "undefined" in capsys.readouterr().err


def test_a_function_of_a_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name within the module, with its example beside it; `--mesh` may say once more what the example has."""
    assert main(["inspect", "model_of_test:Model.step", "--mesh", "x=2,y=4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["price"] == 16384


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
def test_another_mesh_on_the_target(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example's arguments over a slice, its axes of other sizes, which `--mesh` says."""
    asked = ["inspect", "model_of_test:step", "--target", "v5e:4x4", "--json"]
    assert main(asked) == 1
    assert "[target-size]" in capsys.readouterr().err
    asked[3] = "v5e:2x4"
    for mesh, parts in (["--mesh", "x=4,y=2"], 4), ([], 2):
        assert main([*asked, *mesh]) == 0
        assert json.loads(capsys.readouterr().out)["collectives"][0]["bytes"] == 4 * 64 * 64 // parts


def test_inspect_for_other_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name, JSON on stdout alone, and a status of its own where a device moves more than it may."""
    asked = ["inspect", "model_of_test.py:step", "--json", "--fail-above"]
    assert main([*asked, "16.384kB"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["price"], told["made_with"]["target"]) == (1, 16384, None)
    assert 2 * 32 * 32 * 64 <= told["flops"] < 2.1 * 32 * 32 * 64
    assert told["collectives"][0]["kind"] == "all-reduce"
    assert main([*asked, "15.9KiB"]) == 3
    assert "a device moves 16,384 bytes, more than 16,282." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*asked, "1 mile"])


MISTAKES = {
    "no file": (["no_such_file.py:step"], "no-function"),
    "nothing before the colon": ([":step"], "no-function"),
    "nothing after the colon": (["model_of_test:"], "no-function"),
    "no such class": (["model_of_test:Walk.step"], "no-function"),
    "no example, but an array": (["model_of_test:held"], "no-arguments"),
    "an axis twice": (["model_of_test:step", "--mesh", "x=2,x=4", "--args", "float32[4]"], "not-a-mesh"),
    "the mesh of others": (["model_of_test:step", "--mesh", "x=4,y=2"], "not-a-mesh"),
    "no such directory": (["model_of_test:step", "--hlo", "none/such/out.txt"], "no-directory"),
    "no colon": (["model_of_test"], "no-function"),
    "no module": (["no_such_module:step"], "no-function"),
    "no function": (["model_of_test:walk"], "no-function"),
    "no arguments": (["model_of_test:step_example"], "no-arguments"),
    "no mesh": (["model_of_test:step", "--mesh", "x", "--args", "float32[4]"], "not-a-mesh"),
    "no such axis": (["model_of_test:step", "--mesh", "x=2", "--args", "float32[4]@z"], "not-an-argument"),
    "no shape": (["model_of_test:step", "--args", "float32"], "not-an-argument"),
    "no such type": (["model_of_test:step", "--args", "float7[4]"], "not-an-argument"),
    "does not divide": (["model_of_test:step", "--mesh", "x=2", "--args", "float32[5]@x"], "not-an-argument"),
    "too many axes": (["model_of_test:step", "--mesh", "x=2", "--args", "float32[4]@_,x"], "not-an-argument"),
    "unknown target": (["model_of_test:step", *ARGS, "--target", "v9:2x2"], "unknown-target"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each mistake is said on stderr in the form of all errors, and the command fails."""
    arguments, reference = MISTAKES[case]
    assert main(["inspect", *arguments]) == 1
    said = capsys.readouterr()
    assert (
        said.out == "" and said.err.startswith(f"[{reference}] ") and "\n  where: " in said.err and "\n  mend:  " in said.err
    )


def test_arguments() -> None:
    """Types, shapes and axes, several on one dimension, scalars, and no axes at all."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    a, b, c = read_arguments("bfloat16[64, 8]@x+y,_; int32[]; bool[4]", mesh)
    assert (a.shape, str(a.dtype), a.sharding.spec) == ((64, 8), "bfloat16", jax.P(("x", "y"), None))
    assert (b.shape, c.shape, c.sharding.is_fully_replicated) == ((), (4,), True)
    assert mesh_axes("") == {}
    with pytest.raises(LensError, match="not-a-mesh"):
        mesh_axes("x=0")


def test_why_cost_chip(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Why it communicates, what that costs on a chip, and what is known of the chip; all of them without a name."""
    assert main(["why", "model_of_test:step"]) == 0 and "all-reduce" in capsys.readouterr().out
    assert main(["cost", "model_of_test:step", "v5e"]) == 0 and "A model, not a measurement" in capsys.readouterr().out
    assert main(["chip", "v5e:2x4"]) == 0 and "hbm_bandwidth" in capsys.readouterr().out
    assert main(["chip"]) == 0
    said = capsys.readouterr().out
    assert all(chip.name in said for chip in shardlens.CHIPS)
    assert main(["cost", "model_of_test:step", "v9"]) == 1 and "[unknown-chip]" in capsys.readouterr().err


NAMES = {"h100:2x8": ("h100", "H100", "NVIDIA H100"), "v4:2x2x1": ("v4", "v4p", "TPU v4"), "v5e:2x4": ("v5e", "TPU v5e")}


@pytest.mark.parametrize("target, names", NAMES.items(), ids=NAMES)
def test_a_chip_by_any_name(target: str, names: tuple[str, ...]) -> None:
    """The slice that was compiled for is the chip's that is named; another chip, or another slice, is as it is named."""
    assert {_slice(name, target) for name in names} == {target}
    assert {other: _slice(other, target) for other in ("v6e", "v5e:4x4")} == {"v6e": "v6e", "v5e:4x4": "v5e:4x4"}
    assert _slice("v5e", None) == "v5e"


def test_compare(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Targets side by side; here this machine alone."""
    assert main(["compare", "model_of_test:step", "--targets", "here"]) == 0
    assert "here (8 CPU)" in capsys.readouterr().out


@pytest.fixture
def versions(folder: Path) -> Path:
    """The model in `old`; in `new` one that sums its product too; both take it from a module beside them."""
    for name, more in ("old", ""), ("new", ", (a @ b).sum()"):
        (folder / name).mkdir()
        text = MODEL.replace("return a @ b", "return product_of_test.product(a, b)", 1)
        (folder / name / "version_of_test.py").write_text(f"import product_of_test\n{text}")
        (folder / name / "product_of_test.py").write_text(f"def product(a, b):\n    return a @ b{more}\n")
    return folder


OLD, NEW = "old/version_of_test.py:step", "new/version_of_test.py:step"


def test_diff(versions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what differs, the price last; status 3 where the second moves more, and not where the first does."""
    assert main(["diff", OLD, NEW]) == 3
    said = capsys.readouterr()
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[1] == "all-reduce over y 1 f32, 8,192 1 f32, 16,384 +8,192".split()
    assert rows[2] == "all-reduce over x - 1 f32, 4 +4".split()
    assert "price, bytes 16,384 32,776 +16,392".split() in rows and "argument, bytes" not in said.out
    assert rows[-2:] == [["A:", OLD], ["B:", NEW]]
    assert said.err == f"{NEW}: a device moves 32,776 bytes, 16,392 more than in {OLD}.\n"
    assert main(["diff", NEW, OLD]) == 0 and "-16,392" in capsys.readouterr().out
    assert main(["diff", OLD, OLD]) == 0
    assert capsys.readouterr().out == "no difference: a device moves 16,384 bytes in both\n"


def test_what_is_imported_when_it_is_traced(versions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A module beside a file of another folder, each side's own, which the function imports itself."""
    path = [*sys.path]
    for name in ("old", "new"):
        file = versions / name / "version_of_test.py"
        first, rest = file.read_text().split("\n", 1)
        file.write_text(rest.replace("    return product", f"    {first}\n    return product", 1))
    assert main(["inspect", OLD, "--json"]) == 0 and json.loads(capsys.readouterr().out)["price"] == 16384
    for module in ("version_of_test", "product_of_test"):
        del sys.modules[module]
    assert main(["diff", OLD, NEW]) == 3 and "16,392 more than in" in capsys.readouterr().err
    (versions / "new" / "product_of_test.py").write_text("def product(a, b):\n    return a @ b + 1\n")
    assert main(["diverge", OLD, OLD]) == 0 and main(["diverge", OLD, NEW]) == 3
    assert sys.path == path and "product_of_test" not in sys.modules


def test_diff_with_files(versions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lock file, or what `inspect --json` wrote, stands for a program; FLOPs are compared where both have them."""
    assert main(["lock", "model_of_test:step", "step.json", "--update"]) == 0
    assert main(["inspect", "model_of_test:Model.step", "--json"]) == 0
    (versions / "model.json").write_text(capsys.readouterr().out)
    assert main(["diff", "step.json", "model.json"]) == 0 and "no difference" in capsys.readouterr().out
    assert main(["diff", "step.json", NEW, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    moved = {"count": 1, "dtypes": ["f32"], "bytes": 8192, "bytes_a_round": 0, "uncounted": 0}
    assert told["names"] == {"a": "step.json", "b": NEW} and told["moves_more"]
    assert told["differs"][0] == {"what": "all-reduce over y", "a": moved, "b": {**moved, "bytes": 16384}}
    assert told["differs"][-1] == {"what": "price, bytes", "a": 16384, "b": 32776}
    assert "FLOPs" not in {row["what"] for row in told["differs"]}
    assert main(["diff", "model.json", NEW]) == 3 and "FLOPs" in capsys.readouterr().out


def committed(folder: Path) -> None:
    """A repository with one commit, of which `commit_of_test.py` is changed, and links that lead out of it."""
    (folder / "commit_of_test.py").write_text(MODEL)
    (folder / "absolute").symlink_to("/nowhere/data")
    (folder / "above").symlink_to("../../data")
    own = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for words in (["init", "-q"], ["add", "commit_of_test.py", "absolute", "above"], [*own, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], check=True, cwd=folder)
    (folder / "commit_of_test.py").write_text(MODEL.replace("return a @ b", "return a @ b, (a @ b).sum()", 1))


def test_a_commit_has_the_file_of_any_name(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An absolute name, or one that begins in a folder of the repository, is that of the file at the commit."""
    committed(folder)
    (folder / "inside").mkdir()
    monkeypatch.chdir(folder / "inside")
    for name in (str(folder / "commit_of_test.py"), "../commit_of_test.py"):
        assert main(["diff", f"{name}:step", "--git", "HEAD"]) == 3
        assert "16,392 more than" in capsys.readouterr().err
    for name in ("/elsewhere/train.py", "../../train.py"):
        assert main(["diff", f"{name}:step", "--git", "HEAD"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"[outside-repository] {name} is not in the repository {folder}.\n") and "mend:" in said


def test_diff_of_commits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The function as it was at a commit is compared with that of the working directory, by line; `--fail-above` allows."""
    committed(folder)
    asked = ["diff", "commit_of_test.py:step", "--git", "HEAD"]
    assert main([*asked, "--markdown"]) == 3
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert rows[0] == "| on one device | commit_of_test.py:step at HEAD | commit_of_test.py:step | difference |"
    assert "| commit_of_test.py: return a @ b (all-reduce) | 16,384 | 0 | -16,384 |" in rows
    assert rows[-1] == "| price, bytes | 16,384 | 32,776 | +16,392 |" and "Traceback" not in "".join(rows)
    assert main([*asked, "--fail-above", "16391"]) == 3
    assert (
        main([*asked, "--fail-above", "16392 B"]) == 0 and main(["diff", "commit_of_test.py:step", "--git", "HEAD~7"]) == 1
    )
    assert "[no-commit] git does not give 'HEAD~7'." in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [[], ["x.json", "--git", "HEAD"], ["--targets", "v5e:2x4"]], ids=["one program", "two ways", "one target"]
)
def test_a_difference_is_of_two(more: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any other number is refused."""
    assert main(["diff", "model_of_test:step", *more]) == 1 and "[two-programs]" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
@pytest.mark.thorough
def test_diff_of_targets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One function for two targets: what the compilers make of it, and what the models say of the time."""
    main(["diff", "model_of_test:step", "--targets", "v5e:2x4,v6e:2x4"])
    said = capsys.readouterr().out
    assert "all by the model, ns" in said and "A: v5e:2x4 (JAX " in said and "v6e:2x4)" in said


def test_diff_of_compilers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where other versions or another target made a file, both are named below; other shapes of the same bytes too."""
    assert main(["inspect", "model_of_test:step", "--json"]) == 0
    raw = json.loads(capsys.readouterr().out)
    raw["made_with"] = {"jax": "0.9.1", "compiler": "XLA for TPU, libtpu 0.0.7", "target": "v5e:2x4"}
    raw["collectives"][0]["shape"].reverse()
    (folder / "other.json").write_text(json.dumps(raw))
    assert main(["diff", "other.json", "model_of_test:step"]) == 0
    said = capsys.readouterr().out
    assert "A: other.json (JAX 0.9.1, XLA for TPU, libtpu 0.0.7, v5e:2x4)\n" in said and "different shapes" in said


@pytest.mark.parametrize("price, status", [((None, None), 3), ((16384, None), 3), ((None, 16384), 3)], ids=str)
def test_diff_of_unknown_rounds(
    price: tuple[int | None, int | None], status: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where data decides how often a collective runs, another one may move more; the same one does not."""
    assert main(["inspect", "model_of_test:step", "--json"]) == 0
    raw = json.loads(capsys.readouterr().out)
    for name, moved, size in zip("ab", price, (8192, 4096)):
        one = {**raw["collectives"][0], "bytes": size, "times": None if moved is None else 1}
        (folder / f"{name}.json").write_text(json.dumps({**raw, "price": moved, "collectives": [one]}))
    assert main(["diff", "a.json", "b.json"]) == status
    said = capsys.readouterr()
    assert "b.json may move more than a.json" in said.err and "a round" in said.out and "?" in said.out
    assert main(["diff", "a.json", "a.json"]) == 0
    (folder / "nothing.json").write_text(json.dumps({**raw, "price": 0, "collectives": []}))
    assert main(["diff", "a.json", "nothing.json"]) == 0 and capsys.readouterr().err == ""


@pytest.mark.parametrize("text, reference", [(None, "not-a-program"), ("{", "not-facts"), ('{"schema": 1}', "not-facts")])
def test_diff_mistakes(text: str | None, reference: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there, or holds something else, is said in the form of all errors."""
    if text is not None:
        (folder / "step.json").write_text(text)
    assert main(["diff", "step.json", "model_of_test:step"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"[{reference}] ") and "\n  mend:  " in said.err


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    """Versions, devices, and targets where libtpu is installed."""
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    rows = dict(line.split(maxsplit=1) for line in said.splitlines() if "  " in line)
    assert ("v4:2x2x1, v5e:2x2" in said) == (importlib.util.find_spec("libtpu") is not None)
    assert ("of jaxlib's version" in said) == cards.at_hand() == ("h100:4" in said.partition("not for")[0])
    assert rows["shardlens"].strip() == shardlens.__version__ and rows["jax"].strip() == jax.__version__
    assert rows["devices"].strip() == "8 simulated on the CPU"


def test_doctor_reads_any_bytes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A log on stdin, of which a byte is no text."""
    said = b"\xff progress\nRESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said), encoding="utf-8"))
    assert main(["doctor", "-"]) == 0 and "memory" in capsys.readouterr().out


@pytest.mark.parametrize("lacks", ["libtpu", "devices"])
def test_doctor_mends(lacks: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing is named below, with how to mend it; status 1 where nothing can be compiled here."""
    if lacks == "libtpu":
        monkeypatch.setattr(topology.importlib.util, "find_spec", lambda name: None)
        monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
        assert main(["doctor"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "compiles for here" in said
        assert "not for v4:2x2x1, v5e:2x2, v5p:2x2x1, v6e:2x2, tpu7x:2x2x1: compiling for a TPU needs" in said
        assert "mend: pip install 'shardlens[tpu]'" in said or "mend: libtpu exists for Linux" in said
        return

    def refuse(*args: object, target: str | None = None) -> None:
        raise RuntimeError("the TPU is already in use by process 7\nmore of it")

    monkeypatch.setattr(doctor, "inspect", refuse)
    assert main(["doctor"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "compiles for nothing" in said and "already in use by process 7 mend: end other programs" in said


@pytest.mark.thorough
@pytest.mark.skipif(not cards.at_hand(), reason=f"XLA for GPU is not here: {cards.command()}")
def test_gpus(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command takes cards as it takes a TPU slice, and a lock file names their compiler."""
    step = "model_of_test:step"
    assert main(["inspect", step, "--target", "h100:8"]) == main(["why", step, "--target", "h100:8"]) == 0
    assert main(["cost", step, "h100", "--target", "h100:8"]) == 0 and "us a step" in capsys.readouterr().out
    assert main(["compare", step, "--targets", "here,h100:8"]) == 0 and "h100:8 (8 GPU)" in capsys.readouterr().out
    assert main(["lock", step, "step.json", "--target", "h100:8", "--update"]) == 0
    assert json.loads((folder / "step.json").read_text())["made_with"]["compiler"].startswith("XLA for GPU, jaxlib ")
    assert main(["lock", step, "step.json", "--target", "h100:8"]) == 0


def test_lock(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lock file is written when that is asked for; then the same program is well, and one that moves more is not."""
    assert main(["lock", "model_of_test:step", "step.json"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "[no-lock-file] there is no lock file step.json.",
        "  where: lock step.json",
        "  mend:  write it: shardlens lock model_of_test:step step.json --update.",
    ]
    assert main(["lock", "model_of_test:step", ".", "--update"]) == 1 and "[no-lock-file]" in capsys.readouterr().err
    assert main(["lock", "model_of_test:step", "step.json", "--update"]) == 0
    assert main(["lock", "model_of_test:step", "step.json"]) == 0 and capsys.readouterr().out == ""
    raw = json.loads((folder / "step.json").read_text())
    (folder / "step.json").write_text(json.dumps({**raw, "price": 2 * raw["price"]}))
    assert main(["lock", "model_of_test:step", "step.json"]) == 0 and "communicates no more" in capsys.readouterr().out
    (folder / "step.json").write_text(json.dumps({**raw, "price": 1}))
    assert main(["lock", "model_of_test:step", "step.json"]) == 3
    said = capsys.readouterr().err
    assert "are locked" in said and "or shardlens lock --update" in said


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n{}\n", "[]", '{"schema": 0}'], ids=["conflict", "list", "schema"])
def test_a_damaged_lock_file(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What holds no facts is said in the form of all errors, with what writes the file again."""
    (folder / "step.json").write_text(text)
    assert main(["lock", "model_of_test:step", "step.json"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("[not-facts] step.json does not hold the facts of a program in schema 1.\n")
    assert said.endswith("mend:  write it again: pytest --shardlens-update, or shardlens lock --update.\n")


@pytest.mark.parametrize("words", [["chip", "v5e"], ["--help"]], ids=" ".join)
def test_a_reader_may_stop(words: list[str]) -> None:
    """As `head` does after a line; nobody wants a traceback then."""
    words = [sys.executable, "-m", "shardlens", *words]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None and ran.stderr is not None
        ran.stdout.close()
        assert ran.stderr.read() == ""


def test_every_argument_has_a_help() -> None:
    """Each command and each of its arguments, in words that speak only of what the command has."""
    commands = next(one for one in _parser()._actions if isinstance(one.choices, dict)).choices
    for name, command in commands.items():
        said = {one.dest: one.help or "" for one in command._actions}
        assert command.description and all(said.values()), (name, said)
        named = {word for text in said.values() for word in re.findall(r"--[a-z-]+", text)}
        assert named <= set(command._option_string_actions), (name, named)


def test_no_number_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    """A chip takes one line of 80 characters."""
    assert main(["chip"]) == 0
    names, rows = [chip.name for chip in shardlens.CHIPS], [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows if len(row) == 9 and row[0] in names] == names


def test_version_and_help() -> None:
    """As a command of its own it says its version, shows examples, and refuses words that are no command with status 2."""
    ran = [subprocess.run([sys.executable, "-m", "shardlens", *words], capture_output=True, text=True) for words in (
        ["--version"], ["--help"], ["inspect", "--help"], ["nothing"])]  # fmt: skip
    assert ran[0].stdout == f"shardlens {shardlens.__version__}\n" and [one.returncode for one in ran] == [0, 0, 0, 2]
    assert "shardlens lock train.py:step step.json" in ran[1].stdout and "Exit status" in ran[1].stdout
    assert "shardlens inspect train.py:step " in ran[2].stdout and "shardlens why" not in ran[2].stdout
