"""Canvas and Moodle: who is who, what comes out of an archive, and what goes back into their tables.

The names of files and columns are those of Canvas's `content_zipper.rb` and `gradebook_exporter.rb`, and of Moodle's
`downloader.php` and `importgradeslib.php`.
"""

from __future__ import annotations

import csv
import datetime
import os
import pathlib
import random
import shutil
import tomllib
import zipfile
from collections.abc import Mapping
from zoneinfo import ZoneInfo

import click
import pytest
from click.testing import CliRunner, Result

from shardlab.errors import ShardlabError
from shardlab_grader import cli, statuses
from shardlab_grader.lms import archives, commands
from shardlab_grader.lms.archives import Collected
from shardlab_grader.lms.sheets import PRESETS, Sheet
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.records.roster import Roster
from shardlab_grader.sandbox import box as sandbox

from .conftest import NAME

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,90_tiny (31),Essay (32),Current Score
,,,,,,Manual Posting,,
    Points Possible,,,,,,3.5,10,(read only)
"Lindgren, Gus",4711,s-1,gus,A,quiet,,7,70
"Novák, Hana",4712,s-2,hana,"A and B",,2,8,80
"Student, Test",4799,,f00,A,,,,
"""
MOODLE = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),\
Online text,Last modified (grade),Feedback comments
Participant 71,Gus Lindgren,,gus@example.org,Submitted for grading,,"3,50",Yes,"Saturday, 27 February 2027, 11:30 PM",,-,
Participant 72,Hana Novák,22,hana@example.org,Submitted for grading,2.00,"3,50",Yes,"Tuesday, March 2, 2027, 10:00 AM",,\
"Tuesday, March 2, 2027, 11:00 AM","<p>so, so</p>"
Participant 73,Ivo Petrov,23,ivo@example.org,No submission,,"3,50",Yes,-,,-,
"""
TABLES = {"canvas": CANVAS, "moodle": MOODLE}
STUDENTS = {"4711": "gus", "4712": "hana", "71": "gus", "72": "hana"}


def sheet(folder: pathlib.Path, lms: str, text: str = "", encoding: str = "utf-8") -> Sheet:
    """The sample table of an LMS, or another text."""
    path = folder / f"{lms}.csv"
    path.write_bytes((text or TABLES[lms]).encode(encoding))
    return Sheet(PRESETS[lms], path)


def collected(
    folder: pathlib.Path, lms: str, files: Mapping[str, str], times: Mapping[str, object] | None = None
) -> Collected:
    """What is done with an archive of these files."""
    with zipfile.ZipFile(folder / "all.zip", "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return archives.collect(folder / "all.zip", PRESETS[lms], STUDENTS, times or {}, folder / "course", NAME)  # type: ignore[arg-type]


def submitted(folder: pathlib.Path) -> dict[str, str]:
    """The files below `submitted/`, with their texts."""
    root = folder / "course" / "submitted"
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_students_are_those_of_the_first_column_that_names_all(tmp_path: pathlib.Path) -> None:
    """Or of the one that is asked for; Canvas's test student is none of them."""
    assert sheet(tmp_path, "canvas").students() == {"4711": "gus", "4712": "hana"}
    assert sheet(tmp_path, "moodle").students() == {
        f"7{n + 1}": f"{who}@example.org" for n, who in enumerate(("gus", "hana", "ivo"))
    }
    with_names = MOODLE.replace("Gus Lindgren,,", "Gus Lindgren,21,")
    assert sheet(tmp_path, "moodle", with_names).students() == {"71": "21", "72": "22", "73": "23"}
    assert sheet(tmp_path, "moodle").students("Full name")["72"] == "Hana Novák"
    assert (
        sheet(tmp_path, "canvas", CANVAS.replace(",", ";").replace("Lindgren;", "Lindgren,"), "utf-8-sig").students()["4711"]
        == "gus"
    )


def test_canvas_own_student_without_an_id_blocks_no_column(tmp_path: pathlib.Path) -> None:
    """Its row stays as it is when scores are filled in; any other student without an id still does."""
    text = CANVAS.replace("4799,,f00", "4799,,").replace(",s-1,gus,", ",s-1,,").replace(",s-2,hana,", ",s-2,,")
    found = sheet(tmp_path, "canvas", text)
    assert found.students() == {"4711": "s-1", "4712": "s-2"}
    assert '"Student, Test",4799,,,A,' in found.filled({"4711": 3.5}, 3.5, NAME, False)
    with pytest.raises(ShardlabError, match="does not give every student a different id"):
        sheet(tmp_path, "canvas", text.replace("Student, Test", "Student, Tess")).students("SIS User ID")


def test_an_unpacked_archive_is_taken_too(tmp_path: pathlib.Path) -> None:
    """With its folders, as a browser leaves it; a link in it is left alone."""
    folder = tmp_path / "PAR101-Tiny-912"
    for name in ("Gus Lindgren_71_assignsubmission_file", "Hana Novák_72_assignsubmission_file"):
        (folder / name).mkdir(parents=True)
    (folder / "Gus Lindgren_71_assignsubmission_file" / f"{NAME}.ipynb").write_text("gus")
    (tmp_path / "secret.ipynb").write_text("secret")
    (folder / "Hana Novák_72_assignsubmission_file" / f"{NAME}.ipynb").symlink_to(tmp_path / "secret.ipynb")
    done = archives.collect(folder, PRESETS["moodle"], STUDENTS, {}, tmp_path / "course", NAME)
    assert done.new == ("gus",) and submitted(tmp_path) == {f"gus/{NAME}/{NAME}.ipynb": "gus"}
    assert archives.collect(folder, PRESETS["moodle"], STUDENTS, {}, tmp_path / "course", NAME).same == ("gus",)


@pytest.mark.parametrize(
    ("lms", "text", "column", "said"),
    [
        ("moodle", "", "ID number", "'ID number' does not give every student a different id"),
        (
            "moodle",
            MOODLE.replace("hana@", "gus@"),
            "",
            "'ID number' and 'Email address' does not give every student a different id",
        ),
        (
            "moodle",
            MOODLE.replace("gus@example.org", "../gus"),
            "Email address",
            "does not give every student a different id",
        ),
        ("canvas", "", "Login", "it has no column 'Login'"),
        ("canvas", MOODLE, "", "it has no column 'ID' and no 'Section'"),
        ("moodle", CANVAS, "", "it has no column 'Identifier' and no 'Grade'"),
        ("canvas", "\n", "", "it has no column 'ID'"),
        ("moodle", MOODLE.replace("Grade,Max", "Bewertung,Max"), "", "export it once more, in English"),
    ],
)
def test_another_table_is_refused(tmp_path: pathlib.Path, lms: str, text: str, column: str, said: str) -> None:
    """It says which column is missing, and what to do."""
    with pytest.raises(ShardlabError, match="lms-table") as error:
        sheet(tmp_path, lms, text).students(column)
    assert said in str(error.value)


def test_a_table_that_is_no_csv_is_refused(tmp_path: pathlib.Path) -> None:
    """Such as one with a cell without end."""
    with pytest.raises(ShardlabError, match="it is not CSV"):
        sheet(tmp_path, "canvas", f'Student,"{"x" * 200_000}')


def test_a_table_of_another_encoding_is_refused(tmp_path: pathlib.Path) -> None:
    """Names would come back to the LMS as others."""
    with pytest.raises(ShardlabError, match="not UTF-8"):
        sheet(tmp_path, "canvas", encoding="latin-1")


def test_times_are_those_of_the_zone(tmp_path: pathlib.Path) -> None:
    """In both of Moodle's English orders; who has handed in nothing has none, and Canvas's table has no times."""
    times = sheet(tmp_path, "moodle").times(ZoneInfo("Europe/Berlin"))
    assert {user: f"{time:%m-%d %H:%M %z}" for user, time in times.items()} == {
        "71": "02-27 23:30 +0100",
        "72": "03-02 10:00 +0100",
    }
    assert sheet(tmp_path, "moodle", MOODLE.replace("Saturday, 27 February", "Samstag, 27. Februar")).times(
        ZoneInfo("UTC")
    ).keys() == {"72"}
    assert sheet(tmp_path, "canvas").times(ZoneInfo("UTC")) == {}


def test_only_the_newest_notebook_of_each_comes_out(tmp_path: pathlib.Path) -> None:
    """Whatever else there is stays in the archive, and no name leads out of `submitted/`."""
    done = collected(tmp_path, "canvas", {
        f"lindgrengus_4711_900_{NAME}.ipynb": "old",
        f"lindgrengus_4711_1000_{NAME}-1.ipynb": "new",
        "lindgrengus_4711_1001_notes.ipynb": "notes",
        f"folder/nováhana_3_LATE_4712_901_my_12_34_{NAME} (2).ipynb": "renamed",
        f"petrovivo_4713_902_{NAME}.ipynb": "who",
        f"lindgrengus_4711_903_{NAME}.py": "text",
        f"../../evil_4711_{NAME}.ipynb": "evil",
        "readme.txt": "",
    })  # fmt: skip
    assert submitted(tmp_path) == {f"gus/{NAME}/{NAME}.ipynb": "new", f"hana/{NAME}/{NAME}.ipynb": "renamed"}
    assert (done.new, done.late, done.unknown) == (("gus", "hana"), ("hana",), (f"petrovivo_4713_902_{NAME}.ipynb",))
    assert len(done.left) == 5 and not (tmp_path / "evil").exists()
    again = collected(tmp_path, "canvas", {
        f"lindgrengus_4711_1000_{NAME}-1.ipynb": "new", f"nováhana_4712_1002_{NAME}.ipynb": "in time"})  # fmt: skip
    assert (again.same, again.replaced, again.late) == (("gus",), ("hana",), ())


def test_another_ending_takes_the_earlier_ones_place(tmp_path: pathlib.Path) -> None:
    """What is graded came last. What a person has unpacked beside an archive stays while the archive is the same."""
    name = f"lindgrengus_4711_900_{NAME}"
    collected(tmp_path, "canvas", {f"{name}.ipynb": "first"})
    done = collected(tmp_path, "canvas", {f"{name}.zip": "packed"})
    assert (done.new, done.replaced, submitted(tmp_path)) == ((), ("gus",), {f"gus/{NAME}/{NAME}.zip": "packed"})
    (tmp_path / "course" / "submitted" / "gus" / NAME / f"{NAME}.ipynb").write_text("unpacked")
    assert collected(tmp_path, "canvas", {f"{name}.zip": "packed"}).same == ("gus",)
    assert submitted(tmp_path) == {f"gus/{NAME}/{NAME}.zip": "packed", f"gus/{NAME}/{NAME}.ipynb": "unpacked"}
    assert collected(tmp_path, "canvas", {f"{name}.py": "last"}).replaced == ("gus",)
    assert submitted(tmp_path) == {f"gus/{NAME}/{NAME}.py": "last"}


@pytest.mark.parametrize(
    "lms, name", [("canvas", "lindgrengus_4711_900_{}"), ("moodle", "Gus Lindgren_71_assignsubmission_file/{}")]
)
def test_what_macos_adds_is_nobodys(lms: str, name: str, tmp_path: pathlib.Path) -> None:
    """An archive that Finder has packed again, and a folder that has lain on another system's disk."""
    file = name.format(f"{NAME}.ipynb")
    folders, _, last = file.rpartition("/")
    beside = "/".join(filter(None, (folders, f"._{last}")))
    done = collected(tmp_path, lms, {f"all/{file}": "gus's", f"__MACOSX/all/{beside}": "x", f"all/{beside}": "x"})
    assert (done.new, done.twice, done.left) == (("gus",), (), ())
    assert submitted(tmp_path) == {f"gus/{NAME}/{NAME}.ipynb": "gus's"}


def test_a_folder_whose_name_is_no_text(tmp_path: pathlib.Path) -> None:
    """As archives of before Unicode leave it: what lies there is read like any other."""
    place = os.fsencode(tmp_path) + b"/all/M\xfcller_71_assignsubmission_file"
    os.makedirs(place)
    pathlib.Path(os.fsdecode(place), f"{NAME}.ipynb").write_text("gus's")
    done = archives.collect(tmp_path / "all", PRESETS["moodle"], STUDENTS, {}, tmp_path / "course", NAME)
    assert done.new == ("gus",)


def test_a_time_that_is_known_later(tmp_path: pathlib.Path) -> None:
    """It is told of those whose file is as it was, since `grade` does not look at these again."""
    files = {f"Gus Lindgren_71_assignsubmission_file/{NAME}.ipynb": "x"}
    times = sheet(tmp_path, "moodle").times(ZoneInfo("UTC"))
    assert collected(tmp_path, "moodle", files).times == ()
    assert [collected(tmp_path, "moodle", files, each).times for each in (times, times, {})] == [("gus",), (), ("gus",)]


@pytest.mark.parametrize("between", ["/", "_/", "_/sub/", "_"])
def test_moodles_folders_and_its_flat_names(tmp_path: pathlib.Path, between: str) -> None:
    """As versions and teachers have it; times become nbgrader's, and go where there is none any more."""
    times = sheet(tmp_path, "moodle").times(ZoneInfo("America/New_York"))
    files = {
        f"Gus Lindgren_71_assignsubmission_file{between}{NAME}.ipynb": "gus's",
        f"Jo Li_72_assignsubmission_file{between}a.ipynb": "x",
    }
    more = {"Gus Lindgren_71_assignsubmission_onlinetext/onlinetext.html": "<p></p>"}
    done = collected(tmp_path, "moodle", files | more, times)
    assert (done.new, done.left) == (("gus", "hana"), tuple(more))
    assert submitted(tmp_path)[f"gus/{NAME}/{NAME}.ipynb"] == "gus's"
    assert submitted(tmp_path)[f"gus/{NAME}/timestamp.txt"] == "2027-02-28 04:30:00 UTC"
    collected(tmp_path, "moodle", files, {})
    assert f"gus/{NAME}/timestamp.txt" not in submitted(tmp_path)


def test_what_is_no_archive_of_that_lms_is_refused(tmp_path: pathlib.Path) -> None:
    """Another LMS's, an anonymous one, one that broke off, one that claims to be small."""
    for files in ({f"Gus_71_assignsubmission_file/{NAME}.ipynb": "x"}, {f"anon_x7Yz_900_{NAME}.ipynb": "x"}, {}):
        with pytest.raises(ShardlabError, match="no notebook in it is named as canvas names them"):
            collected(tmp_path, "canvas", files)
    broken = [b"PK\x03\x04 and no more"]
    entry = f"lindgrengus_4711_900_{NAME}.ipynb"
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "all.zip", "w", method) as archive:
            archive.writestr(entry, "x" * 9000)
        whole, start = (tmp_path / "all.zip").read_bytes(), 30 + len(entry)
        locked = bytearray(whole)
        for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            locked[whole.index(header) + flags] |= 1  # encrypted
        unknown = whole.replace(bytes([method, 0]), b"\x63\0")
        broken += [whole[:start] + b"\xff" * 12 + whole[start + 12 :], bytes(locked), unknown]
    for content in broken:
        (tmp_path / "all.zip").write_bytes(content)
        with pytest.raises(ShardlabError, match="lms-archive"):
            archives.collect(tmp_path / "all.zip", PRESETS["canvas"], STUDENTS, {}, tmp_path / "course", NAME)
    assert not (tmp_path / "course").exists()


HOSTILE: dict[str, tuple[str, dict[str, str], dict[str, str], str]] = {
    "a folder inside, canvas": (
        "canvas",
        {"evegus_4711_900_a/novahana_4712_901_90_tiny.ipynb": "eve"},
        {"gus": "eve"},
        "",
    ),
    "a folder inside, moodle": (
        "moodle",
        {"Gus_71_assignsubmission_file/Hana_72_assignsubmission_file/90_tiny.ipynb": "eve"},
        {"gus": "eve"},
        "",
    ),
    "a title, canvas": ("canvas", {"evegus_4711_900_x_4712_901_90_tiny.ipynb": "eve"}, {"gus": "eve"}, ""),
    "a title, moodle": (
        "moodle",
        {"Gus_71_assignsubmission_file_x_72_assignsubmission_file_90_tiny.ipynb": "eve"},
        {"gus": "eve"},
        "",
    ),
    "a text online": (
        "moodle",
        {"Gus_71_assignsubmission_onlinetext/x_72_assignsubmission_file/90_tiny.ipynb": "eve"},
        {},
        "left",
    ),
    "a name that ends in a number": ("canvas", {"eve_4712_4711_900_90_tiny.ipynb": "eve"}, {}, "twice"),
    "a name that is nothing but a number": ("canvas", {"_4712_4711_900_90_tiny.ipynb": "eve"}, {}, "twice"),
    "two names": (
        "moodle",
        {"Hana_72_assignsubmission_file/a.ipynb": "hana", "Eve_72_assignsubmission_file/a.ipynb": "eve"},
        {},
        "twice",
    ),
    "two names in one folder": (
        "canvas",
        {"novahana_4712_900_90_tiny.ipynb": "hana", "eve_4712_901_90_tiny.ipynb": "eve"},
        {},
        "twice",
    ),
    "a way out": ("canvas", {"../novahana_4712_900_90_tiny.ipynb": "eve", "readme.txt": ""}, {}, ""),
}  # fmt: skip
"""An LMS, an archive, what comes of it by student, and where the other files are named."""


@pytest.mark.parametrize("name", HOSTILE)
def test_only_what_the_lms_wrote_names_a_student(name: str, tmp_path: pathlib.Path) -> None:
    """Nobody's notebook is replaced by a name that another student chose; two claims stop both."""
    lms, files, expected, field = HOSTILE[name]
    if name == "a way out":
        with pytest.raises(ShardlabError, match="no notebook in it is named"):
            collected(tmp_path, lms, files)
        return
    if field == "left":
        files = files | {"Gus_71_assignsubmission_file/b.ipynb": "gus"}
        expected = {"gus": "gus"}
    done = collected(tmp_path, lms, files)
    assert {path.split("/")[0]: text for path, text in submitted(tmp_path).items()} == expected
    assert not field or set(getattr(done, field)) <= set(files) and getattr(done, field)


PARTS = [*"_/x \\", "..", "4711", "4712", "71", "72", "LATE_", "anon_", "assignsubmission", "_file", NAME, "é", "-1"]


@pytest.mark.parametrize("lms", ["canvas", "moodle"])
def test_no_name_of_a_file_is_another_students(lms: str, tmp_path: pathlib.Path) -> None:
    """Three hundred names drawn from what names are made of: gus hands them in, and nothing of hana's is touched."""
    drawn = random.Random(4712)
    begins = {"canvas": "lindgrengus_4711_{}_", "moodle": "Gus Lindgren_71_assignsubmission_file_"}[lms]
    begins += drawn.choice(["", "/"]) if lms == "moodle" else ""
    hana = {"canvas": "novakhana_4712_17_90_tiny.ipynb", "moodle": "Hana_72_assignsubmission_file_/90_tiny.ipynb"}[lms]
    for number in range(150):
        title = "".join(drawn.choices(PARTS, k=drawn.randint(1, 9)))
        done = collected(tmp_path, lms, {f"{begins.format(9000 + number)}{title}.ipynb": "gus", hana: "hana"})
        assert submitted(tmp_path)[f"hana/{NAME}/{NAME}.ipynb"] == "hana", title
        assert "hana" in (*done.new, *done.same) and not done.replaced and {*done.new, *done.same} <= {"gus", "hana"}


def test_what_is_too_large_or_no_notebook_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large notebook is named; a text or an archive is stored as such, so that `grade` can say what it is."""
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    done = collected(tmp_path, "canvas", {
        f"lindgrengus_4711_900_{NAME}.ipynb": "x" * 11, "novahana_4712_901_work.py": "y"})  # fmt: skip
    assert done.large == (f"lindgrengus_4711_900_{NAME}.ipynb",)
    assert submitted(tmp_path) == {f"hana/{NAME}/{NAME}.py": "y"}


def test_ids_are_the_gradebooks(tmp_path: pathlib.Path) -> None:
    """Before anything is stored: ids of another column, or without their zeros, stop it."""
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as opened:
        opened.writestr(f"lindgrengus_4711_900_{NAME}.ipynb", "gus")

    def collect(students: Mapping[str, str], known: list[str]) -> Collected:
        course = tmp_path / "course"
        return archives.collect(tmp_path / "all.zip", PRESETS["canvas"], students, {}, course, NAME, known)

    for students, known, said in (
        ({"4711": "123"}, ["00123", "7"], "123 is spelled differently in the gradebook"),
        ({"4711": "gus"}, ["ivo"], "none of them is in the gradebook"),
    ):
        with pytest.raises(ShardlabError, match="lms-ids") as error:
            collect(students, known)
        assert said in str(error.value) and submitted(tmp_path) == {}
    assert collect({"4711": "gus"}, ["gus", "ivo"]).new == ("gus",) and collect({"4711": "gus"}, []).same == ("gus",)


def test_another_chapters_archive_is_refused(tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Before anything is stored; one notebook of another chapter replaces none."""
    shutil.copytree(tiny_course, tmp_path / "course")
    ours = (tmp_path / "course" / "release" / NAME / f"{NAME}.ipynb").read_text()
    other = ours.replace('\\"90.', '\\"4.').replace('"q90-', '"q4-')
    gus, hana = (f"{who}_{user}_900_{NAME}.ipynb" for who, user in (("gus", 4711), ("hana", 4712)))
    with pytest.raises(ShardlabError, match="2 of 2 notebooks are of a chapter other than 90_tiny"):
        collected(tmp_path, "canvas", {gus: other, hana: other})
    assert submitted(tmp_path) == {}
    assert collected(tmp_path, "canvas", {gus: ours, hana: other}).other == ("hana",)
    assert set(submitted(tmp_path)) == {f"gus/{NAME}/{NAME}.ipynb", f"hana/{NAME}/{NAME}.ipynb"}
    done = collected(tmp_path, "canvas", {gus: other, hana: ours})
    assert (done.other, done.replaced) == (("gus",), ("hana",)) and submitted(tmp_path)[f"gus/{NAME}/{NAME}.ipynb"] == ours


def test_canvas_gets_its_identifying_columns_and_this_assignment(tmp_path: pathlib.Path) -> None:
    """Other columns may have changed since; who has no score keeps what there was."""
    filled = list(csv.reader(sheet(tmp_path, "canvas").filled({"4711": 1 / 3 + 2}, 3.5, NAME, scale=False).splitlines()))
    assert filled[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{NAME} (31)"]
    assert [row[5] for row in filled[1:]] == ["Manual Posting", "3.5", "2.33", "2", ""]
    assert filled[4][:5] == ["Novák, Hana", "4712", "s-2", "hana", "A and B"]


def test_moodle_gets_its_worksheet(tmp_path: pathlib.Path) -> None:
    """All of it, since it compares the dates of grades, with its own comments."""
    filled = list(csv.reader(sheet(tmp_path, "moodle").filled({"71": 3.5, "73": 0}, 3.5, "any", scale=False).splitlines()))
    given = list(csv.reader(MOODLE.splitlines()))
    assert [row[5] for row in filled] == ["Grade", "3.5", "2.00", "0"]
    assert [row[:5] + row[6:] for row in filled] == [row[:5] + row[6:] for row in given]


def test_other_points_are_refused_or_scaled(tmp_path: pathlib.Path) -> None:
    """A score of 4 of 4 would be more than all of 3.5."""
    for lms, user in (("canvas", "4711"), ("moodle", "71")):
        with pytest.raises(ShardlabError, match=r"the LMS counts 3.5 points, but the assignment has 4"):
            sheet(tmp_path, lms).filled({user: 4}, 4, NAME, scale=False)
        assert ",3.5" in sheet(tmp_path, lms).filled({user: 4}, 4, NAME, scale=True)


def test_an_unknown_title_lists_the_others(tmp_path: pathlib.Path) -> None:
    """Canvas's own titles are free; two of one title have other numbers."""
    with pytest.raises(ShardlabError, match="lms-table") as error:
        sheet(tmp_path, "canvas").filled({}, 3.5, "Tiny", scale=False)
    assert "none of its columns is called 'Tiny'" in str(error.value) and f"{NAME} (31), Essay (32)" in str(error.value)
    twice = sheet(tmp_path, "canvas", CANVAS.replace("Essay (32)", f"{NAME} (33)"))
    with pytest.raises(ShardlabError, match="2 of its columns are called"):
        twice.filled({}, 3.5, NAME, scale=False)
    assert twice.filled({}, 10, f"{NAME} (33)", scale=False).startswith("Student,")


def run(*arguments: str | pathlib.Path) -> Result:
    """One command's end and what it printed."""
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def test_from_the_archive_to_the_table(
    tiny_course: pathlib.Path, tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both commands around `grade`: the ungraded one's cell stays, names are printed where they are asked for."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    monkeypatch.chdir(tmp_path)
    course = shutil.copytree(tiny_course, tmp_path / "course")
    given = (course / "release" / NAME / f"{NAME}.ipynb").read_text()
    sheet(tmp_path, "canvas")
    with zipfile.ZipFile("all.zip", "w") as opened:
        opened.writestr(f"lindgrengus_4711_1_{NAME}.ipynb", given)
        opened.writestr(f"novákhana_4712_2_{NAME}.ipynb", "no notebook")
        opened.writestr(f"petrovivo_4713_3_{NAME}.ipynb", given)
    here = ("--course", course, "--names")
    done = run("collect", "90", "all.zip", "--from", "canvas", "--table", "canvas.csv", *here)
    assert done.exit_code == 0, done.output
    assert done.output == (
        "new: 2: gus, hana\nnot in the table, or Canvas's test student, and not collected: "
        f"1: petrovivo_4713_3_{NAME}.ipynb\n"
        f"no times are known, so no submission is late.\nnext: shardlab-grader grade {NAME} --course course\n"
    )
    assert run("grade", "90", "--course", course, "--workers", "1").exit_code == 3
    done = run("export", "90", "canvas.csv", "--to", "canvas", *here)
    assert done.exit_code == 0, done.output
    said = "scores: 1 of 2 students\nleft empty, because ungraded or waiting for a person: 1: hana\n"
    assert done.output == f"{said}wrote {NAME}-canvas.csv\n"
    rows = list(csv.reader((tmp_path / f"{NAME}-canvas.csv").read_text().splitlines()))
    assert [row[-1] for row in rows[3:]] == ["0", "2", ""]
    assert (
        "gus" not in run("collect", "90", "all.zip", "--from", "canvas", "--table", "canvas.csv", "--course", course).output
    )
    sheet(tmp_path, "moodle", MOODLE.replace("@example.org", ""))
    assert run("export", "90", "moodle.csv", "--to", "moodle", "--comments", "--output", "m.csv", *here).exit_code == 0
    (row,) = (row for row in csv.DictReader((tmp_path / "m.csv").read_text().splitlines()) if row["Grade"] == "0")
    assert row["Feedback comments"] == "0 of 3.5 points. Points lost in 90.1 (0 of 2), 90.2 (0 of 1.5)."
    kept = run("export", "90", "canvas.csv", "--to", "canvas", "--output", "canvas.csv", *here)
    assert kept.exit_code == 2 and "worth keeping" in kept.output
    nowhere = run("collect", "90", "all.zip", "--from", "canvas", "--table", "canvas.csv", "--timezone", "Mars/Base", *here)
    assert nowhere.exit_code == 1


def test_a_score_that_is_not_this_works_is_not_exported(
    tiny_course: pathlib.Path, tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An extension has a row with 0 points in the gradebook, and `grade` was stopped before it wrote the verdict there."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    monkeypatch.chdir(tmp_path)
    course = Course(shutil.copytree(tiny_course, tmp_path / "course"))
    sheet(tmp_path, "canvas")
    place = course.root / "submitted" / "gus" / NAME
    place.mkdir(parents=True)
    shutil.copy(course.root / "release" / NAME / f"{NAME}.ipynb", place)
    course.add_student("gus")
    course.extend(NAME, {"gus": datetime.timedelta(days=2)})
    here = ("--course", course.root, "--names")
    with monkeypatch.context() as patch:
        patch.setattr(Course, "autograde", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run("grade", "90", "--course", course.root, "--workers", "1").exit_code == statuses.STOPPED
    said = "scores: 0 of 2 students\nleft empty, because ungraded or waiting for a person: 1: gus\n"
    assert run("export", "90", "canvas.csv", "--to", "canvas", *here).output.startswith(said)
    assert "judged, but not in the gradebook" in run("report", "90", *here).output
    assert run("grade", "90", "--course", course.root, "--workers", "1").exit_code == 0
    assert run("export", "90", "canvas.csv", "--to", "canvas", *here).output.startswith("scores: 1 of 2 students\nwrote")


def test_marks_of_a_viva_go_into_a_column_of_their_own(
    tiny_course: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of each student, by id or by key, as it is; who has a question without a mark keeps the field as it was."""
    monkeypatch.chdir(tmp_path)
    course = shutil.copytree(tiny_course, tmp_path / "course")
    sheet(tmp_path, "canvas")
    key = Roster(course).enter(NAME, {"hana": ""})["hana"]
    head = "assignment;student;question;exercise;kind;mark"
    filled = [f"{NAME};{key};1;90.1;where;1,5", f"{NAME};{key};2;90.1;copies;0,25", f"{NAME};gus;1;90.1;where;"]
    (tmp_path / "marks.csv").write_text("\r\n".join([head, *filled]), "utf-8-sig")
    here = ("export", "90", "canvas.csv", "--to", "canvas", "--column", "Essay", "--course", course, "--marks", "marks.csv")
    done = run(*here, "--names")
    assert done.exit_code == 0, done.output
    assert "scores: 1 of 2 students\nleft empty, because ungraded or waiting for a person: 1: gus\n" in done.output
    rows = list(csv.reader((tmp_path / f"{NAME}-canvas.csv").read_text().splitlines()))
    assert [row[-1] for row in rows[3:]] == ["7", "1.75", ""]
    assert run(*here, "--scale").exit_code == 2
    (tmp_path / "marks.csv").write_text("\n".join([head, *filled, f"{NAME};gus;2;90.1;where;good"]))
    assert f"row 5 has no mark from 0 on for {NAME}" in " ".join(run(*here).output.split())
    (tmp_path / "marks.csv").write_text("student,mark\n")
    assert "it has no column assignment and no question" in " ".join(run(*here).output.split())


@pytest.mark.parametrize("lms", ["canvas", "moodle"])
def test_pages_go_back_under_the_names_of_the_submissions(
    lms: str, tiny_course: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """The newest file of each; only the ending is another one, and who has no page is counted."""
    shutil.copytree(tiny_course, tmp_path / "course")
    page = tmp_path / "course" / "feedback" / "gus" / NAME / f"{NAME}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>well done</p>")
    files = {
        "canvas": (
            f"lindgrengus_4711_1_{NAME}.ipynb",
            f"lindgrengus_LATE_4711_2_{NAME}-1.ipynb",
            f"novakhana_4712_3_{NAME}.ipynb",
        ),
        "moodle": ("Gus Lindgren_71_assignsubmission_file/my.ipynb", f"Hana Novák_72_assignsubmission_file/{NAME}.ipynb"),
    }[lms]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as opened:
        for name in files:
            opened.writestr(name, "{}")
    (tmp_path / "table.csv").write_text(TABLES[lms].replace("@example.org", ""))
    given = ["feedback", "90", str(tmp_path / "all.zip"), "--to", lms, "--table", str(tmp_path / "table.csv")]
    given += ["--course", str(tmp_path / "course"), "--output", str(tmp_path / "back.zip"), "--names"]
    ran = CliRunner().invoke(cli.main, given)
    assert ran.exit_code == 0, ran.output
    assert "pages: 1: gus\nhanded in, but without a page because not graded yet: 1: hana\n" in ran.output
    with zipfile.ZipFile(tmp_path / "back.zip") as packed:
        newest = files[1] if lms == "canvas" else files[0]
        assert packed.namelist() == [newest.replace(".ipynb", ".html")]
        assert packed.read(packed.namelist()[0]) == page.read_bytes()
    (tmp_path / "all.zip").write_text("no archive")
    assert "[lms-archive]" in CliRunner().invoke(cli.main, given).output


def test_comments_go_where_there_are_none_yet(tmp_path: pathlib.Path) -> None:
    """Moodle's table has a column for them; what a person wrote there stays, and Canvas's table has no such column."""
    said = {"71": "90.2: not attempted", "72": "All passed."}
    rows = list(csv.DictReader(sheet(tmp_path, "moodle").filled({"71": 2.0}, 3.5, "", False, said).splitlines()))
    assert [row["Feedback comments"] for row in rows] == ["90.2: not attempted", "<p>so, so</p>", ""]
    assert [row["Grade"] for row in rows] == ["2", "2.00", ""]
    with pytest.raises(ShardlabError, match="it has no column of comments"):
        sheet(tmp_path, "canvas").filled({}, 3.5, NAME, False, {"4711": "All passed."})


def test_sections_are_those_of_the_gradebook(tmp_path: pathlib.Path) -> None:
    """As the settings have them; one who is in two is in the first, and Canvas's own student is in none."""
    assert sheet(tmp_path, "canvas", CANVAS.replace("A and B", "B and A")).sections() == {"A": ["gus"], "B": ["hana"]}
    ran = CliRunner().invoke(cli.main, ["settings", "--sections", str(tmp_path / "canvas.csv")])
    assert tomllib.loads(ran.output) == {"sections": {"A": ["gus"], "B": ["hana"]}}
    with pytest.raises(ShardlabError, match="it has no column 'Section'"):
        sheet(tmp_path, "moodle").sections()


def test_what_is_read_is_not_written_over(tmp_path: pathlib.Path) -> None:
    """Another file, also one that is not there yet, is taken as it is; the file itself is refused, by whatever name."""
    read, other = tmp_path / "table.csv", tmp_path / "filled.csv"
    read.write_text("")
    assert commands.apart(other, read, "it.") == other
    with pytest.raises(click.UsageError, match=r"^--output is it\.$"):
        commands.apart(tmp_path / "." / "table.csv", read, "it.")
