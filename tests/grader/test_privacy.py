"""What is kept of a student, and under which name: keys, hidden names, and forgetting."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable, Iterator

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.apps.dbapp import DbStudentRemoveApp

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition
from shardlab_grader import cli
from shardlab_grader.classes import classroom, jobs
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.records import forgetting, roster
from shardlab_grader.records.roster import HIDDEN, Person, Roster
from shardlab_grader.records.store import Record
from shardlab_grader.records.submissions import submissions
from shardlab_grader.releases.release import Release, keep_out_of_git, release
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox import box as sandbox
from shardlab_judge.verdict import Finding, Verdict

from .conftest import NAME, ROOT

CHAPTER = "01"
AMELIE = Person("aquist", ("Amelie", "Quist"), "a.quist@uni.example")
SAID = "zebra-quartz-parasol"
"""Words that stand in a notebook only."""


@pytest.fixture
def made(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> Release:
    """The tiny chapter, released."""
    shutil.copytree(tiny_course, tmp_path / "course")
    return Release.load(tmp_path / "course", NAME)


def hand_in(made: Release, student: str, text: str | None = None, name: str | None = None) -> None:
    """Put a file into `submitted/`: what was released, unless given."""
    path = made.course_dir / "submitted" / student / made.assignment / (name or f"{made.assignment}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or edition.to_ipynb(made.notebook))


def changed(made: Release, old: str, new: str) -> str:
    """The released notebook with some words replaced."""
    text = edition.to_ipynb(made.notebook)
    assert old in text
    return text.replace(old, new)


def grade(made: Release) -> dict[str, Row]:
    """Grade the class; rows by student."""
    return {row.student: row for row in classroom.grade(made.course_dir, made.assignment, "bubblewrap", 2, silent)}


@contextlib.contextmanager
def silent(step: str, length: int) -> Iterator[Callable[[], None]]:
    """No progress bar."""
    yield lambda: None


def kept(made: Release) -> list[str]:
    """The verdicts in the store."""
    return sorted(path.stem for path in (made.course_dir / "shardlab" / "verdicts").glob("*.json"))


def run(*arguments: str | pathlib.Path) -> str:
    """What a command printed."""
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments]).output


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_a_class_is_graded_without_names(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No file below `shardlab/` and no line printed holds a name or a notebook's text, also where a program prints them."""
    made = release(CHAPTER, tmp_path / "course", ROOT)
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        names = {"first_name": "Amelie", "last_name": "Quist", "email": AMELIE.address}
        gradebook.update_or_create_student("aquist", **names)
    notebook = made.notebook
    told = f"# {SAID}, by Amelie Quist\nraise ValueError('/home/aquist/Amelie-Quist: a.quist@uni.example')"
    next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")).source = told
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"I am Amelie Quist. {SAID}"))
    hand_in(made, "aquist", edition.to_ipynb(notebook))
    hand_in(made, "bruno.faber", name="bruno.faber-1.ipynb")
    hand_in(made, "bruno.faber", name="bruno.faber-2.ipynb")
    printed = run("grade", CHAPTER, "--course", made.course_dir)
    printed += run("report", CHAPTER, "--course", made.course_dir, "--submissions", "--html", tmp_path / "page.html")
    found = {"printed": printed, "page": (tmp_path / "page.html").read_text(), "outside": "".join(capfd.readouterr())}
    below = (made.course_dir / "shardlab").rglob("*")
    found |= {str(path): path.read_bytes().decode("latin-1") + path.name for path in below if path.is_file()}
    words = ("aquist", "Amelie", "Quist", "uni.example", "bruno", "faber", SAID)
    assert {place: word for place, text in found.items() for word in words if word.lower() in text.lower()} == {}
    assert "2 submissions: 1 graded, 1 ungraded" in printed
    assert f"ValueError: /home/{HIDDEN}" in "".join(found.values())
    assert "bruno.faber" in run("report", CHAPTER, "--course", made.course_dir, "--names")


HIDES = {
    "an id": ("/home/aquist/x.py", f"/home/{HIDDEN}/x.py"),
    "an id in capitals": ("AQUIST", HIDDEN),
    "an id with a suffix": ("aquist_homework-aquist.ipynb", f"{HIDDEN}_homework-{HIDDEN}.ipynb"),
    "names": ("Amelie Quist", f"{HIDDEN} {HIDDEN}"),
    "an address": ("mail A.Quist@uni.example now", f"mail {HIDDEN} now"),
    "not inside words": ("aquistor 2aquist Quistmesh", "aquistor 2aquist Quistmesh"),
    "not a common word": ("the quist of it", "the quist of it"),
}


@pytest.mark.parametrize(("text", "hidden"), HIDES.values(), ids=HIDES)
def test_a_name_is_hidden(text: str, hidden: str) -> None:
    """Whole words only: the id and the address however written, names as the gradebook writes them."""
    assert AMELIE.hidden(text) == hidden


def test_a_letter_is_no_name() -> None:
    """A student called x does not take the axis x out of the feedback."""
    assert Person("x", ("Y",)).hidden("axis x, axis Y") == "axis x, axis Y"


@pytest.mark.parametrize(("id", "hidden"), [("16", False), ("4096", False), ("31415", True), ("s16", True)])
def test_a_short_number_is_no_name(id: str, hidden: bool) -> None:
    """A student with the id 16 does not take 16 bytes out of the feedback; a longer number is an id."""
    said = "Expected: {} bytes on axis x; found: 32."
    assert Person(id).hidden(said.format(id)) == said.format(HIDDEN if hidden else id)


def test_a_record_is_hidden_where_a_student_speaks() -> None:
    """Exceptions, findings and reasons lose names; items, misconceptions and points stay."""
    finding = Finding("aquist", "V", "aquist differs.", "1", "'aquist'", "cell of aquist", "Because.", 2, "forgot-psum")
    record = Record({"1": Verdict("1", "failed", (), (finding,), "aquist fell")}, "none", {"1": ["cell 1: aquist"]})
    got = roster.nameless(record, [AMELIE])
    told = Finding("aquist", "V", "[name] differs.", "1", "'[name]'", "cell of [name]", "Because.", 2, "forgot-psum")
    assert got == Record({"1": Verdict("1", "failed", (), (told,), "[name] fell")}, "none", {"1": ["cell 1: [name]"]})


def test_keys_are_drawn_once(tmp_path: pathlib.Path) -> None:
    """A submission keeps its key; another student's, and another assignment's, is another one; the file is its owner's."""
    first = Roster(tmp_path).enter("a", {"ann": "v1", "bob": ""})
    assert Roster(tmp_path).enter("a", {"ann": "v2"}) == {"ann": first["ann"]}
    other = Roster(tmp_path).enter("b", {"ann": ""})["ann"]
    assert len({*first.values(), other}) == 3
    assert all(len(key) == roster.LENGTH and set(key) <= set(roster.LETTERS) for key in first.values())
    assert (Roster(tmp_path).student("a", first["bob"]), Roster(tmp_path).student("b", first["bob"])) == ("bob", None)
    assert Roster(tmp_path).path.stat().st_mode & 0o777 == 0o600


def test_no_key_is_a_number_or_a_date(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spreadsheet would save it in another form, and the sheet could not be read back."""
    drawn = iter("2345e678" + "3may2345" + "a2345678")
    monkeypatch.setattr(roster.secrets, "choice", lambda _: next(drawn))
    assert Roster(tmp_path).enter("a", {"ann": ""}) == {"ann": "a2345678"}


def test_keys_have_nothing_to_do_with_names(tmp_path: pathlib.Path) -> None:
    """The same student in another course has another key."""
    (tmp_path / "other").mkdir()
    assert Roster(tmp_path).enter("a", {"ann": ""}) != Roster(tmp_path / "other").enter("a", {"ann": ""})


def test_two_grading_runs_at_once_lose_no_key(tmp_path: pathlib.Path) -> None:
    """Everyone who is entered at the same time is in the file."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda n: Roster(tmp_path).enter("a", {f"s{n}": f"v{n}"}), range(24)))
    assert all(Roster(tmp_path).student("a", key) == who for entered in keys for who, key in entered.items())


def test_a_failed_write_keeps_the_old_keys(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is replaced whole or not at all."""
    before = Roster(tmp_path).enter("a", {"ann": "v1"})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "replace", full)
        Roster(tmp_path).enter("a", {"bob": "v2"})
    assert Roster(tmp_path).enter("a", {"ann": "v1"}) == before
    assert [path.name for path in tmp_path.iterdir()] == [roster.FILE]


@pytest.mark.parametrize("text", ["", "[1]", '{"ann": 3}', '{"ann": {"a": {}}}'])
def test_damaged_keys_are_not_drawn_anew(text: str, tmp_path: pathlib.Path) -> None:
    """A file that cannot be read stops with a sentence: new keys would hide what is kept of whom."""
    (tmp_path / roster.FILE).write_text(text)
    with pytest.raises(ShardlabError, match="keys-damaged"):
        Roster(tmp_path).enter("a", {"ann": ""})
    assert (tmp_path / roster.FILE).read_text() == text


def test_rows_without_names_are_in_the_order_of_keys(made: Release) -> None:
    """The order of the class list would say who is who."""
    for student in ("ann", "bob", "cem", "dee", "eve"):
        hand_in(made, student, "no notebook by " + student)
    rows = list(grade(made).values())
    shown = classroom.nameless(rows, made.course_dir)
    assert [row.student for row in shown] == sorted(row.key for row in rows)
    assert {row.key for row in shown} == set(
        Roster(made.course_dir).enter(NAME, dict.fromkeys(["ann", "bob"], "")).values()
    ) | {row.key for row in rows if row.student in ("cem", "dee", "eve")}


def test_equal_notebooks_are_judged_once(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two students with the same bytes share a verdict, and each has a key of their own."""
    runs: list[int] = []
    stand_in = jobs.run_all
    monkeypatch.setattr(jobs, "run_all", lambda work, n, _: stand_in([runs.append(1) or job for job in work], n))  # type: ignore[func-returns-value]
    hand_in(made, "ann")
    hand_in(made, "bob")
    rows = grade(made)
    assert (len(runs), len(kept(made))) == (1, 1)
    assert rows["ann"].key != rows["bob"].key
    assert (rows["ann"].total, rows["bob"].total) == (0.0, 0.0)


def test_forgetting_deletes_what_is_kept(made: Release) -> None:
    """All verdicts on what a student handed in, old ones too, the key and the feedback; nothing of another student's."""
    for text in (edition.to_ipynb(made.notebook), changed(made, "return ...  # TODO", "return 2 * n")):
        hand_in(made, "ann", text)
        hand_in(made, "bob")
        grade(made)
    assert len(kept(made)) == 2
    gone = forgetting.forget(made.course_dir, "ann")
    assert (gone.verdicts, [path.name for path in gone.folders]) == (1, ["ann"])
    assert kept(made) == [row["verdicts"][0] for row in json.loads(Roster(made.course_dir).path.read_text())["bob"].values()]
    assert "ann" not in Roster(made.course_dir).path.read_text()
    assert sorted(path.name for path in (made.course_dir / "feedback").iterdir()) == ["bob"]
    assert forgetting.forget(made.course_dir, "bob").verdicts == 1
    assert kept(made) == []


def test_what_stays_is_said_and_goes(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that are printed remove the rest; then nothing in the course directory knows the student."""
    hand_in(made, "o'hara")
    grade(made)
    printed = run("forget", "o'hara", "--course", made.course_dir)
    assert "deleted: 1 verdict, the student's keys, 1 folder of feedback pages." in printed
    assert """nbgrader db student remove 'o'"'"'hara' --force""" in printed
    told = [line.strip() for line in printed.splitlines()]
    for step in ("submitted", "autograded"):
        folder = made.course_dir / step / "o'hara"
        assert f"rm -r {str(folder.parent)}" in " ".join(told).replace("'", "")
        shutil.rmtree(folder)
    monkeypatch.chdir(made.course_dir)
    with contextlib.suppress(SystemExit), quiet():
        DbStudentRemoveApp.clear_instance()
        DbStudentRemoveApp.launch_instance(["o'hara", "--force"])
    assert not [str(path) for path in made.course_dir.rglob("*") if b"o'hara" in _content(path) + path.name.encode()]
    with pytest.raises(ShardlabError, match="unknown-student"):
        forgetting.forget(made.course_dir, "o'hara")


def _content(path: pathlib.Path) -> bytes:
    return path.read_bytes() if path.is_file() and path.suffix != ".db" else b""


@pytest.mark.parametrize("student", ["nobody", "../..", "..", "*", "ann/../bob", ""])
def test_who_is_not_known_is_not_forgotten(student: str, made: Release) -> None:
    """A name that is a path or a pattern deletes nothing."""
    hand_in(made, "bob")
    grade(made)
    before = sorted(made.course_dir.rglob("*"))
    with pytest.raises(ShardlabError, match="unknown-student"):
        forgetting.forget(made.course_dir, student)
    assert sorted(made.course_dir.rglob("*")) == before


def test_nbgraders_own_command_enters_the_student(made: Release) -> None:
    """A verdict made by `nbgrader autograde` alone can be forgotten too."""
    hand_in(made, "ann")
    assert Course(made.course_dir).autograde(NAME, "ann") == ""
    assert (forgetting.forget(made.course_dir, "ann").verdicts, kept(made)) == (1, [])


def test_a_student_can_be_named_by_key(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--student` takes what the table shows."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    hand_in(made, "ann")
    hand_in(made, "bob")
    key = grade(made)["bob"].key
    printed = run("grade", NAME, "--course", made.course_dir, "--student", key)
    assert "1 submission: 1 graded, 0 ungraded." in printed
    assert "bob" not in printed
    assert "bob" in run("grade", NAME, "--course", made.course_dir, "--student", key, "--names", "--verbose")


def test_a_name_that_is_a_pattern_is_a_name(made: Release) -> None:
    """Of `[ab]`, `a` and `b` only the first is meant; a pattern still is one where there is no such folder."""
    for student in ("a", "b", "[ab]", "b?"):
        hand_in(made, student)
    everybody = ["[ab]", "a", "b", "b?"]
    for asked, met in (("[ab]", ["[ab]"]), ("[a]", ["a"]), ("?", ["a", "b"]), ("b?", ["b?"]), ("*", everybody)):
        pattern = classroom.wanted(made.course_dir, NAME, asked)
        assert [one.student for one in submissions(made.course_dir, NAME, pattern)] == met


def test_git_adds_nothing_of_a_course(made: Release, tmp_path: pathlib.Path) -> None:
    """In a clone of this repository, wherever the course lies in it: by its own `.gitignore`, and by the repository's."""
    hand_in(made, "aquist")
    grade(made)
    clone, here = tmp_path / "clone", ["git", "-C", str(tmp_path / "clone")]
    clone.mkdir()
    shutil.copy(ROOT / ".gitignore", clone)
    (clone / "README.md").touch()
    subprocess.run([*here, "init", "--quiet"], check=True)
    shutil.copytree(made.course_dir, clone / "teaching" / "spring")
    for places in (clone, clone / "mycourse"):  # made right there, or before courses had a `.gitignore`
        shutil.copytree(made.course_dir, places, ignore=shutil.ignore_patterns(".gitignore"), dirs_exist_ok=True)
    staged = clone / ".shardlab-staged" / "aquist" / "notebook.ipynb"
    staged.parent.mkdir(parents=True)
    staged.touch()
    subprocess.run([*here, "add", "--all"], check=True)
    added = subprocess.run([*here, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    assert added == [".gitignore", "README.md"]


@pytest.mark.parametrize(("name", "kept"), [(".git/HEAD", False), (".gitignore", True)])
def test_a_course_with_its_own_repository_decides_itself(name: str, kept: bool, tmp_path: pathlib.Path) -> None:
    """What is there already is not changed, and a repository of the course's own is told nothing."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("theirs\n")
    keep_out_of_git(tmp_path)
    assert (tmp_path / ".gitignore").exists() == kept and (tmp_path / name).read_text() == "theirs\n"
