"""An LMS's own table: Canvas's exported gradebook, Moodle's grading worksheet. It says who is who, and takes scores.

The formats are those of the programs that write and read them: Canvas's `lib/gradebook_exporter.rb`,
`lib/gradebook_importer.rb` and `lib/content_zipper.rb`, Moodle's `mod/assign/classes/downloader.php` and
`mod/assign/feedback/offline/importgradeslib.php`.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import math
import pathlib
import re
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence

from shardlab.errors import ShardlabError
from shardlab_grader.records import tables

SAFE = re.compile(r"[^/\\\x00-\x1f\x7f.][^/\\\x00-\x1f\x7f]{0,99}")
"""A student's id, which becomes the name of a folder."""


TEST_STUDENT, SECTION = "Student, Test", "Section"


@dataclasses.dataclass(frozen=True)
class Preset:
    """How one LMS names files, and the columns of its table.

    `entry` finds in an archive's path, from the beginning of a folder's or file's name on, `who` it is and the LMS's own
    number of the `user`, the file's `title`, and where it has them the number of the `file`, which grows with each upload,
    and a mark that it was `late`. Whatever stands behind that is a student's own. `key` is the column of that number,
    `students` those that may have the id that the course knows, the usual one first, and `after` the last that says who it
    is. `most` is the column of the points that it counts, or what begins the row that has them.
    """

    name: str
    entry: re.Pattern[str]
    key: str
    students: Sequence[str]
    after: str
    most: str
    grade: str = ""
    comment: str = ""
    handed_in: str = ""


PRESETS = {
    "canvas": Preset(
        "canvas",
        # Canvas too finds users by `_\d+_`, and keeps names free of it; an anonymous one begins with `anon_`.
        re.compile(r"(?!anon_)(?P<who>[^/]*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<title>(?:(?P<next>\d+)_)?.+)"),
        "ID",
        ("SIS Login ID", "SIS User ID", "ID"),
        SECTION,
        "Points Possible",
    ),
    "moodle": Preset(
        "moodle",
        # A folder for each student, or, as the teacher chose, one for all; older versions end the folder in `_`.
        # Moodle keeps names free of `_`.
        re.compile(
            r"(?P<who>[^/_]*)_(?P<user>\d+)_assignsubmission_(?:file_?(?:/(?:.*/)?|(?<=_))(?P<title>[^/]+)|[a-z]+.*)"
        ),
        "Identifier",
        ("Username", "ID number", "Email address"),
        "",
        "Maximum Grade",
        "Grade",
        "Feedback comments",
        "Last modified (submission)",
    ),
}


class Sheet:
    """One table of an LMS.

    Raises:
        ShardlabError: it is not that LMS's table, or cannot be read.
    """

    def __init__(self, preset: Preset, path: pathlib.Path) -> None:
        self.preset, self._path = preset, path
        try:
            text = path.read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise self._error("it is not UTF-8", "export it once more, as CSV.") from None
        self._delimiter = tables.between(text)
        try:
            rows = list(csv.reader(io.StringIO(text), delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            raise self._error(f"it is not CSV ({error})", "export it once more, as CSV.") from None
        self._header, found = (rows[0], rows[1:]) if rows else ([], [])
        self._rows = [self._whole(row, number) for number, row in enumerate(found, 2) if any(map(str.strip, row))]
        if missing := [name for name in (preset.key, preset.after, preset.grade) if name and name not in self._header]:
            mend = (
                "in Canvas: Grades, Export"
                if preset.name == "canvas"
                else "in Moodle: Submissions, Download grading worksheet"
            )
            raise self._error(
                f"it has no column {' and no '.join(map(repr, missing))}", f"export it once more, in English ({mend})."
            )

    def _whole(self, row: list[str], number: int) -> list[str]:
        """A row as long as the first: programs leave empty cells at the end out."""
        if any(map(str.strip, row[len(self._header) :])):
            what = f"row {number} has {len(row)} cells, but the first has {len(self._header)}"
            raise self._error(what, "export it once more, and let no other program save it.")
        return (row + [""] * len(self._header))[: len(self._header)]

    def students(self, column: str = "") -> dict[str, str]:
        """The course's id of each user of the LMS, by the LMS's own number.

        Args:
            column: the one that has it; otherwise the first usual one that nobody lacks.
        """
        # Canvas's own row for trying things out is nobody of the class.
        rows = {user: row for user, row in self._people() if row[0] != TEST_STUDENT}
        usual = [name for name in self.preset.students if name in self._header]
        tried = [column] if column else usual
        for name in tried:
            if name not in self._header:
                raise self._error(f"it has no column {name!r}", f"name one of {', '.join(self._header)}.")
            found = {user: self._cell(row, name) for user, row in rows.items()}
            lacking = [user for user, student in found.items() if not SAFE.fullmatch(student)]
            if not lacking and len(set(found.values())) == len(found):
                return found
        what = f"{' and '.join(map(repr, tried)) or 'no column'} does not give every student a different id"
        raise self._error(what, "name the column that has the names of the folders in submitted/: --id COLUMN.")

    def sections(self, column: str = "") -> dict[str, list[str]]:
        """The course's ids of each section's students; one who is in several counts for the first that the LMS names.

        Args:
            column: the one with the ids, as for `students`.
        Raises:
            ShardlabError: the table has no column of sections.
        """
        if SECTION not in self._header:
            raise self._error(
                f"it has no column {SECTION!r}", "take Canvas's exported gradebook, or write [sections] by hand."
            )
        rows, found = dict(self._people()), dict[str, list[str]]()
        for user, student in self.students(column).items():
            named = re.split(r", (?:and )?| and ", self._cell(rows[user], SECTION))[0]
            found.setdefault(named, []).append(student)
        return found

    def times(self, zone: zoneinfo.ZoneInfo) -> dict[str, datetime.datetime]:
        """When each user handed in, by the LMS's own number, where the table says so in a way that can be read."""
        from nbgrader.utils import parse_utc

        found = dict[str, datetime.datetime]()
        for user, row in self._people() if self.preset.handed_in in self._header else ():
            try:
                found[user] = parse_utc(self._cell(row, self.preset.handed_in)).replace(tzinfo=zone)
            except (ValueError, OverflowError):  # "-" of who has handed in nothing; another language
                continue
        return found

    def filled(
        self,
        scores: Mapping[str, float],
        most: float | None,
        column: str,
        scale: bool,
        comments: Mapping[str, str] | None = None,
    ) -> str:
        """The table as the LMS reads it back, with these scores by the LMS's own number; other cells stay as they are.

        Args:
            most: the points that can be earned; where nobody says that, scores are written as they are.
            column: Canvas's title of the assignment.
            comments: what is written where the table has no comment yet, by the same number.
            scale: to the points that the LMS counts, instead of refusing other ones.
        """
        at = self._column(column)
        by_user = {id(row): user for user, row in self._people()}
        rows = [list(row) for row in self._rows]
        for row, kept in zip(self._rows, rows, strict=True):
            user = by_user.get(id(row), "")
            if user in scores:
                kept[at] = f"{round(scores[user] * self._factor(row, at, most, scale), 2):g}"
            if comments and user in comments and not self._cell(row, self._comment()):
                kept[self._header.index(self._comment())] = comments[user]
        keep = list(range(len(self._header)))
        if self.preset.after:  # other assignments' points may have changed since the table was exported
            keep = [*range(self._header.index(self.preset.after) + 1), at]
        written = io.StringIO()
        writer = csv.writer(written, delimiter=self._delimiter, lineterminator="\n")
        writer.writerows([row[i] for i in keep] for row in [self._header, *rows])
        return written.getvalue()

    def _comment(self) -> str:
        """The column of comments.

        Raises:
            ShardlabError: the table has none.
        """
        if not self.preset.comment or self.preset.comment not in self._header:
            mend = "in Moodle, switch on Feedback comments; Canvas's table has none: use shardlab-grader feedback."
            raise self._error("it has no column of comments", mend)
        return self.preset.comment

    def _factor(self, row: Sequence[str], at: int, most: float | None, scale: bool) -> float:
        """What a score is multiplied with."""
        if most is None:
            return 1.0
        if self.preset.most in self._header:
            said = self._cell(row, self.preset.most)
        else:
            said = next((one[at] for one in self._rows if self.preset.most in one[0]), "")
        found = tables.number(said)
        counted = most if math.isnan(found) else found
        if counted != most and not scale:
            mend = f"set its points to {most:g} in the LMS, or add --scale."
            raise self._error(f"the LMS counts {counted:g} points, but the assignment has {most:g}", mend)
        return counted / most

    def _column(self, title: str) -> int:
        if self.preset.grade:
            return self._header.index(self.preset.grade)
        named = self._header[self._header.index(self.preset.after) + 1 :]
        fits = [name for name in named if title in (name, re.sub(r" \(\d+\)$", "", name))]
        if len(fits) != 1:
            what = f"{len(fits)} of its columns are called {title!r}" if fits else f"none of its columns is called {title!r}"
            raise self._error(what, f"name one of these: --column TITLE\n{', '.join(named)}")
        return self._header.index(fits[0])

    def _people(self) -> Iterator[tuple[str, list[str]]]:
        """Rows of persons, each with the LMS's own number, which Moodle puts after a word of its language."""
        for row in self._rows:
            number = self._cell(row, self.preset.key)
            if found := re.fullmatch(r"\D*(\d+)", number):
                yield found[1], row
            elif number:  # the student would get no score
                mend = "export it once more, and let no other program save it."
                raise self._error(f"{number!r} in column {self.preset.key!r} is not one of the LMS's numbers", mend)

    def _cell(self, row: Sequence[str], column: str) -> str:
        return row[self._header.index(column)].strip()

    def _error(self, what: str, mend: str) -> ShardlabError:
        return ShardlabError("lms-table", f"{what}.", where=f"{self._path}, as {self.preset.name}'s table", mend=mend)
