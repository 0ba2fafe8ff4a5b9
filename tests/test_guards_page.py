"""The page "Guards in practice": its files work, its change fails as it says, and its mend passes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[1]
# The page shows what one lane's JAX wrote; but for the version, the other's writes the same.
TEXT = (ROOT / "jupyter_book" / "guards.md").read_text().replace("0.10.2", jax.__version__)
BLOCKS = {c: body for c, body in re.findall(r"```\{code-block\} \w+\n:caption: ([^\n]+)\n(.*?)```", TEXT, re.DOTALL)}


def ran(folder: Path, *command: str) -> tuple[int, str]:
    """A command as in a repository of people who installed the package; without the page's `$`."""
    home = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=os.environ | home, capture_output=True, text=True, timeout=300
    )
    return ended.returncode, ended.stdout + ended.stderr


def by_pytest(folder: Path, *options: str) -> tuple[int, str]:
    """pytest, with the plugin that an installed package brings."""
    return ran(folder, "pytest", "-q", "-p", "no:cacheprovider", "-p", "shardlens.guards.plugin", *options)


@pytest.mark.thorough
def test_the_page_holds(tmp_path: Path) -> None:
    """From the first run to the mend, word for word."""
    files = {name: body for name, body in BLOCKS.items() if name.endswith(".py")}
    assert {*files} == {"model.py", "conftest.py", "test_model.py", "test_promise.py"}
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    code, said = by_pytest(tmp_path, "--shardlens-update", "test_model.py")
    assert code == 0 and BLOCKS["the first run"].splitlines()[1].split()[0] in said
    kept = "__shardlens__/test_model.test_block.json"
    assert (tmp_path / kept).read_text() == BLOCKS[kept]
    assert by_pytest(tmp_path)[0] == 0, "the promise holds too"
    before, after = (re.findall(rf"^\{sign}(.*)$", BLOCKS["the change"], re.MULTILINE)[0] for sign in "-+")
    model = tmp_path / "model.py"
    model.write_text(files["model.py"].replace(before, after))
    code, said = by_pytest(tmp_path, "--shardlens-why")
    assert code == 1 and "2 failed" in said, "the promise is broken as well"
    told = [line for line in BLOCKS["the next run"].splitlines() if line.startswith("E ")]
    assert "\n".join(told) in said and len(told) == 10
    model.write_text(files["model.py"])
    assert by_pytest(tmp_path)[0] == 0


@pytest.mark.thorough
def test_the_command(tmp_path: Path) -> None:
    """What the page says last: status 0 at the limit, and 3 above."""
    (command,) = re.findall(r"`(shardlens inspect model.py:block --mesh data=2,model=4 --fail-above 64KiB)`", TEXT)
    (tmp_path / "model.py").write_text(BLOCKS["model.py"])
    assert ran(tmp_path, *command.split())[0] == 0
    assert ran(tmp_path, *command.replace("64KiB", "63KiB").split())[0] == 3
