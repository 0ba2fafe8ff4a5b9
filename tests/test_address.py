"""The repository's address: one that nobody can own until it is set, then the same everywhere."""

from __future__ import annotations

import pathlib
import re
import shutil
import tomllib

import pytest

from shardlab_course.editions import edition, header
from shardlab_tools import address

ROOT = pathlib.Path(__file__).parents[1]
OURS = "https://github.com/owner/course"


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """The files that have the address, and a chapter."""
    for name in (
        *address.FILES,
        "CHANGELOG.md",
        "constraints.txt",
        "solutions/00_first_light.md",
        "solutions/numbers/00.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def test_nobody_can_own_it_until_it_is_set() -> None:
    """The host is reserved, and no first cell, badge or door leads anywhere else than where the owner says."""
    assert header.UNSET.startswith("https://repository.invalid/")
    assert address.address(ROOT) == header.UNSET or address.FORM.fullmatch(address.address(ROOT))


def test_it_is_written_everywhere_and_back(copy: pathlib.Path) -> None:
    """Into every file, first cell and badge; taking it back leaves every byte as it was."""
    before = {name: (copy / name).read_text() for name in address.FILES}
    address.put(copy, header.UNSET)
    plain = {name: (copy / name).read_text() for name in address.FILES}
    assert address.put(copy, OURS) == list(address.FILES)
    assert not [name for name in address.FILES if header.UNSET in (copy / name).read_text()]
    given = header.syllabus(copy)
    text = edition.source(copy / "solutions" / "00_first_light.md", given)
    cells = "\n".join(cell.source for cell in text.cells[:6])
    assert f"git+{OURS}@v{given.version}" in cells
    assert "colab.research.google.com/github/" + "owner/course/blob" in cells and f"welcome?src={OURS}/blob" in cells
    address.put(copy, header.UNSET)
    assert {name: (copy / name).read_text() for name in address.FILES} == plain
    assert address.address(ROOT) != header.UNSET or plain == before


@pytest.mark.parametrize(
    "wrong", ["", "owner/course", "http://github.com/owner/course", "https://github.com/owner", "git@x:y/z"]
)
def test_what_is_no_address_is_refused(
    copy: pathlib.Path, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the form that it must have; nothing is written."""
    monkeypatch.chdir(copy)
    before = (copy / "pyproject.toml").read_text()
    assert address.main([wrong]) == 1
    assert "make address URL=" in capsys.readouterr().out and (copy / "pyproject.toml").read_text() == before


def test_steps_before_a_release(
    copy: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address and the date are asked for as long as they are missing."""
    monkeypatch.chdir(copy)
    address.put(copy, header.UNSET)
    changes = copy / "CHANGELOG.md"
    version = tomllib.loads((copy / "pyproject.toml").read_text())["project"]["version"]
    changes.write_text(re.sub(rf"(?m)^## {version} \(.*\)$", f"## {version} (not released)", changes.read_text()))
    assert address.main([]) == 0
    said = capsys.readouterr().out
    assert "make address" in said and "CHANGELOG.md" in said and "tag the commit v" in said
    assert address.main([f"{OURS}.git/"]) == 0 and address.address(copy) == OURS
    changes.write_text(changes.read_text().replace("(not released)", "(2027-01-01)"))
    assert address.main([]) == 0
    assert "make address" not in (said := capsys.readouterr().out) and "CHANGELOG" not in said
