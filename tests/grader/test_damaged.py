"""Files of a course that are lost, empty, damaged or somebody else's: a sentence that says which, before anything is run."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from shardlab.errors import ShardlabError
from shardlab_grader import cli
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.releases import places

from .conftest import NAME

CONFIG = places.CONFIG
FILES = {
    "manifests": (f"shardlab/{NAME}.json", "release-damaged"),
    "references": (f"shardlab/{NAME}.references.json", "release-damaged"),
    "released": (f"release/{NAME}/{NAME}.ipynb", "release-damaged"),
    "changes": (f"shardlab/changes/{NAME}.json", "changes-damaged"),
    "keys": ("shardlab-keys.json", "keys-damaged"),
}
"""The file, and the error that names it."""
DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "cut": b'{"seed": 3, "manif',
    "list": b"[]",
    "other": b'{"a": 1}',
    "binary": b"\xff\xfe\0",
}


@pytest.fixture
def course(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A course with a submission that is not graded yet."""
    shutil.copytree(tiny_course, tmp_path / "course")
    place = tmp_path / "course" / "submitted" / "ann" / NAME
    place.mkdir(parents=True)
    shutil.copy(tmp_path / "course" / "release" / NAME / f"{NAME}.ipynb", place)
    return tmp_path / "course"


def refused(course: pathlib.Path, command: str = "grade") -> str:
    """What a command said that ended with a sentence, and graded nobody."""
    done = CliRunner().invoke(cli.main, [command, "90", "--course", str(course)])
    assert done.exit_code == 1, done.output
    assert "Traceback" not in done.output
    assert not (course / "autograded").exists() and not (course / "shardlab" / "verdicts").exists()
    return done.output


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_named(file: str, damage: str, course: pathlib.Path) -> None:
    """By `grade` and by `report`; nobody is called ungraded for it."""
    name, reference = FILES[file]
    (course / name).parent.mkdir(exist_ok=True)
    (course / name).write_bytes(DAMAGES[damage])
    for command in ("grade", "report"):
        said = refused(course, command)
        assert f"[{reference}]" in said and name in said, said


@pytest.mark.sandbox
@pytest.mark.parametrize("file", ["references", "released"])
def test_a_lost_file_is_named(file: str, course: pathlib.Path) -> None:
    """As after a restored backup that left some out."""
    (course / FILES[file][0]).unlink()
    assert "[release-damaged] a file of the release is lost." in refused(course)


def added(line: str) -> Callable[[str], str]:
    return lambda text: f"{text}\n{line}\n"


CONFIGS = {
    "syntax": (added("x = ("), "bad-config", "line 7"),
    "module": (added("\nimport nothing_there"), "bad-config", "line 8"),
    "raises": (added("c.A.b = 1 / 0"), "bad-config", "line 7"),
    "empty": (lambda text: "", "foreign-config", "configure(get_config())"),
    "commented": (
        lambda text: text.replace("configure(get", "# configure(get"),
        "foreign-config",
        "configure(get_config())",
    ),
}
"""What an instructor makes of the configuration."""


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_with_a_mistake(name: str, course: pathlib.Path) -> None:
    """It is named with its line; and without our steps in it nbgrader's own do not run what a student wrote."""
    change, reference, told = CONFIGS[name]
    path = course / CONFIG
    path.write_text(change(path.read_text()))
    said = refused(course)
    assert f"[{reference}]" in said and told in said, said
    with pytest.raises(ShardlabError, match=reference):
        Course(course)
