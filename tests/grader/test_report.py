"""What a row of the class table says of a submission, and what tables, CSV and page say of the exercises."""

from __future__ import annotations

import csv
import dataclasses
import io
import pathlib
import re
import shutil
from html.parser import HTMLParser

import pytest
from rich.console import Console

import sample_questions
from shardlab_course.editions import header
from shardlab_grader.records.store import Record
from shardlab_grader.reports import report, report_page
from shardlab_grader.reports.figures import Cause, Exercise, Figures, Group, Guess, Loss, Pair
from shardlab_grader.reports.live import Board, remaining
from shardlab_grader.reports.report import Row, row, summary
from shardlab_judge.verdict import Finding, Part, Verdict

PASSED = Verdict("4.1", "passed", (Part("classify", "V", 2.0, 2.0),))
IDLE = Verdict("4.2", "unattempted", (Part("case_1", "V", 0.0, 1.0),), reason="Not attempted yet.")
KNOWN = Verdict(
    "4.2", "failed", (Part("case_1", "V", 0.0, 1.0),), (Finding("case_1", "V", "Wrong.", misconception="partial-sums"),)
)
WRONG = Verdict("4.2", "failed", (Part("case_1", "V", 0.0, 1.0),), (Finding("case_1", "V", "It is wrong."),))
OURS = Verdict("4.2", "ungraded", (Part("case_1", "V", 0.0, 1.0),), reason="The judge did not start.")
EXERCISES = (
    Exercise("4.1", "Which <case>?", 2.0, {"passed": 20, "partly": 0, "failed": 6, "unattempted": 4, "ungraded": 0},
             (0.0,) * 10 + (2.0,) * 20, (), 6, ()),
    Exercise("4.2", "You compile", 5.5, {"passed": 12, "partly": 9, "failed": 5, "unattempted": 3, "ungraded": 1},
             (0.0,) * 8 + (3.0,) * 9 + (5.5,) * 12,
             (Cause("gathers-both", "Both are gathered & paid.", 9), Cause("=cmd", "<script>", 1)), 0,
             (Group(9, "passed"), Group(4, "partly"), Group(2, "passed")), guesses=(Guess("deep", 24, 7),)),
)  # fmt: skip
LOSSES = (Loss("4.2", 1.4, 5.5, "H"), Loss("4.1", 0.5, 2.0, "V"))
FOUND = Figures(30, 7.5, (0.0, 3.0, 7.5), EXERCISES, (2.25, 3.0, 61.0), LOSSES, (Pair(("4.1", "4.2"), 0.71, (0.4, 0.9)),))
SMALL = dataclasses.replace(FOUND, losses=None, pairs=None)
EMPTY = Figures(0, 7.5, (), tuple(dataclasses.replace(e, counts=dict.fromkeys(e.counts, 0), points=(), misconceptions=(),
                                                      other=0, groups=(), guesses=()) for e in EXERCISES),
                (), None, None)  # fmt: skip


@pytest.mark.parametrize(
    "verdict, errors, status, reason",
    [
        pytest.param(IDLE, [], "graded", "4.2: not attempted", id="untouched"),
        pytest.param(IDLE, ["cell 9: CellTimeout: did not end within 60 s"], "graded",
                     "4.2: stopped in cell 9: CellTimeout: did not end within 60 s", id="endless loop"),
        pytest.param(KNOWN, ["cell 9: ValueError: x"], "graded",
                     "4.2: partial-sums (stopped in cell 9: ValueError: x)", id="a known mistake, and what stopped"),
        pytest.param(KNOWN, [], "graded", "4.2: partial-sums", id="a known mistake"),
        pytest.param(WRONG, ["cell 9: ValueError: x"], "graded",
                     "4.2: It is wrong (stopped in cell 9: ValueError: x)", id="raised"),
        pytest.param(OURS, [], "ungraded", "4.2: The judge did not start", id="our fault"),
    ],
)  # fmt: skip
def test_reason(verdict: Verdict, errors: list[str], status: str, reason: str) -> None:
    """The reason is the known mistake or the first finding, and where a cell stopped; passed questions need none."""
    made = row("ann", Record({"4.1": PASSED, "4.2": verdict}, "bubblewrap", {"4.2": errors}), 2.0)
    assert (made.status, made.reason) == (status, reason)


def test_summary_counts_the_ungraded() -> None:
    """The last line says whether a person must look."""
    rows = [row(name, Record({"4.2": v}, "bubblewrap", {}), 0.0) for name, v in (("ann", KNOWN), ("bea", OURS))]
    assert summary(rows) == "2 submissions: 1 graded, 1 ungraded; a person must look at the ungraded ones."


def printed(*parts: object) -> list[str]:
    """What a terminal of 140 characters shows, without spaces at the ends of lines."""
    console = Console(file=io.StringIO(), width=140)
    console.print(*parts)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_table_of_exercises() -> None:
    """A row an exercise, counts by state, groups of equal programs by what they earned."""
    assert printed(report.exercise_table(FOUND)) == [
        "exercise           passed  partly  failed  unattempted  ungraded  mean   of  equal programs",
        "4.1 Which <case>?      20       -       6            4         -  1.33    2",
        "4.2 You compile        12       9       5            3         1  3.21  5.5  passed 9 + 2; partly 4",
    ]


def test_the_table_of_misconceptions() -> None:
    """A row a misconception with its cause, and one for the mistakes without a name."""
    assert printed(report.misconception_table(FOUND)) == [
        "exercise  hit by  misconception  likely cause",
        "4.1            6  -              other mistakes; the feedback pages say what differs",
        "4.2            9  gathers-both   Both are gathered & paid.",
        "4.2            1  =cmd           <script>",
    ]
    assert len(report.tables(EMPTY)) == 1


SENTENCES = {
    "a class": (FOUND, [
        "Totals: median 3 of 7.5; from 0 to 7.5.",
        "The middle half of the class lost, on average: 1.4 of 5.5 in 4.2, mostly communication; 0.5 of 2 in 4.1, mostly "
        "values.",
        "Points go together (rank correlation, interval for all pairs at once): 4.1 and 4.2 (0.71, 0.40 to 0.90).",
        "Machine time of a submission, run and judged: median 3.0 s, longest 61.0 s.",
    ]),
    "a small one": (dataclasses.replace(SMALL, seconds=()), [
        "Totals: median 3 of 7.5; from 0 to 7.5.",
        "The report cannot say where the median student lost points: that takes 8 graded submissions.",
        "The report does not say how exercises go together: that takes 30 graded submissions.",
    ]),
    "no connection": (dataclasses.replace(FOUND, totals=(), seconds=(), losses=(), pairs=()), [
        "The middle half of the class lost no points.",
        "No two exercises clearly go together in a class of this size.",
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("found", "said"), SENTENCES.values(), ids=SENTENCES)
def test_sentences(found: Figures, said: list[str]) -> None:
    """What is not known is not told; that it is not known is."""
    assert report.sentences(found) == said


def test_predictions_are_tabled_and_drawn() -> None:
    """Of each how many were made, and how many came true."""
    assert [line.split() for line in printed(report.guess_table(FOUND))] == [
        ["exercise", "prediction", "made", "came", "true"], ["4.2", "deep", "24", "7"]
    ]  # fmt: skip
    assert "7 of 24 came true" in report_page.page("A", FOUND) and "came true" not in report_page.page("A", EMPTY)


def test_csv_of_the_exercises(tmp_path: pathlib.Path) -> None:
    """Every figure of the table, for a spreadsheet."""
    report.write_csv(FOUND, tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert rows[1] == {
        "exercise": "4.2", "title": "You compile", "submissions": "30", "passed": "12", "partly": "9", "failed": "5",
        "unattempted": "3", "ungraded": "1", "mean": "3.21", "of": "5.5", "misconceptions": "gathers-both: 9; '=cmd: 1",
        "other mistakes": "0", "equal programs": "passed 9 + 2; partly 4", "observed": "",
        "predictions that came true": "deep: 7 of 24",
    }  # fmt: skip


def test_a_spreadsheet_runs_nothing(tmp_path: pathlib.Path) -> None:
    """What begins like a formula is text."""
    report.write_scores([Row("+ann", "ungraded", reason="@now")], {"1": 2.0}, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[1] == "'+ann,ungraded,,,2.0,'@now"


class Reader(HTMLParser):
    """Collects what a page would fetch, what its pictures say, and checks that elements are closed."""

    VOID = {"meta", "link", "rect", "path"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.pictures: list[str | None] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")]
        self.pictures += [found.get("aria-label")] * (found.get("role") == "img")
        self.open += [tag] * (tag not in self.VOID)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.parametrize("found", [FOUND, SMALL, EMPTY], ids=["a class", "a small one", "nobody"])
def test_the_page_stands_alone(found: Figures) -> None:
    """Nothing is fetched and nothing runs; each picture has its contents in words; all is closed; light and dark."""
    text = report_page.page("04 & more", found)
    read = Reader(text)
    assert (read.open, read.fetched) == ([], ["data:,"])
    assert "<script" not in text and "url(" not in text and "@import" not in text
    assert all(read.pictures)
    assert "prefers-color-scheme: dark" in text
    assert "NaN" not in text and "inf" not in text.lower().replace("information", "")
    assert len(re.findall(r'<svg class="bar"', text)) >= 2


def test_the_page_says_what_the_tables_say() -> None:
    """Counts, causes, groups and losses stand there as text, not in pictures only."""
    words = Reader(report_page.page("04", FOUND)).words
    counted = ("20 passed, 6 failed, 4 unattempted", "9 of 30", "passed 9 + 2; partly 4; 15 others", "median 3 of 7.5")
    for said in (*counted, "Both are gathered & paid.", "1.4 of 5.5 points", "mostly communication", "<script>"):
        assert said in words


def test_the_page_leaves_out_what_there_is_nothing_of() -> None:
    """Of an empty class no losses and no groups are shown, and nothing stands in their place."""
    page = report_page.page("04", EMPTY)
    assert "Equal programs" in report_page.page("04", FOUND) and "Equal programs" not in page
    between = page.partition("<main>")[2].partition("</main>")[0].splitlines()
    assert all(not line or line.startswith("<") for line in between)


def test_the_page_lists_submissions_only_when_asked() -> None:
    """Without rows nothing of a single submission is there; a row's words are escaped."""
    assert "Submissions" not in Reader(report_page.page("04", FOUND)).words
    listed = report_page.page(
        "04", FOUND, [Row("<b>ann</b>", "graded", {"4.1": 2.0}, 2.0, "4.2: <i>")], {"4.1": 2.0, "4.2": 5.5}
    )
    assert "&lt;b&gt;ann&lt;/b&gt;" in listed
    assert "4.2: &lt;i&gt;" in listed
    assert report_page.prose("`a < b` is `False`") == "<code>a &lt; b</code> is <code>False</code>"


@pytest.mark.thorough(after=1)
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(width: int, scheme: str, tmp_path: pathlib.Path) -> None:
    """Nothing sticks out to the side, nothing is fetched, and text stands out from its background."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "a.html").write_text(
        report_page.page("04", FOUND, [Row("k2m4n6p8", "graded", {"4.1": 2.0}, 2.0, "why " * 40)], {"4.1": 2.0})
    )
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        asked, said = [], []
        shown.on("request", lambda request: asked.append(request.url))
        shown.on("console", lambda message: said.append(message.text))
        shown.goto(f"file://{tmp_path}/a.html")
        wide = shown.evaluate("document.documentElement.scrollWidth")
        ink, paper = (shown.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
        browser.close()
    assert (wide <= width, len(asked), said) == (True, 1, [])
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in (ink, paper)]
    assert abs(light[0] - light[1]) > 0.7


LEFT = {
    (10.0, 0, 5): "time left: not known yet",
    (10.0, 1, 5): "time left: not known yet",
    (10.0, 2, 5): "about 15 s left",
    (100.0, 10, 100): "about 15 min left",
    (0.01, 4, 5): "about 1 s left",
    (10.0, 5, 5): "",
}


@pytest.mark.parametrize(("case", "said"), LEFT.items(), ids=map(str, LEFT))
def test_what_remains(case: tuple[float, int, int], said: str) -> None:
    """From the pace so far, once there is one."""
    assert remaining(*case) == said


@pytest.mark.parametrize("names", [True, False])
def test_the_live_table(names: bool) -> None:
    """On a terminal verdicts stream in with points and seconds, under keys or names as asked, and the rest is estimated."""
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    board = Board(console, names)
    with board.progress("running and judging", 3) as advance:
        for student, key in (("ann", "k1"), ("bob", "k2")):
            board.told(student, key, Record({"4.1": PASSED, "4.2": KNOWN}, "none", seconds={"notebook": 1.5, "judge": 0.7}))
            advance()
        shown = console.file.getvalue()  # type: ignore[attr-defined]
    told = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert all((word in told) == names for word in ("ann", "bob", "student"))
    assert all((word in told) != names for word in ("k1", "k2", "submission"))
    assert re.search(r"(k1|ann) +1 +- +1 +- +- +2 +2\.2", told)
    assert "2/3" in told and "s left" in told


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be redrawn there is a line each half minute, and one at the end."""
    console = Console(file=io.StringIO(), width=120)
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("shardlab_grader.reports.live.time.monotonic", lambda: float(next(clock)))
    with Board(console).progress("running", 4) as advance:
        for _ in range(4):
            advance()
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[-1].startswith("running: 4 in ")
    assert all(
        re.fullmatch(r"running: [123] of 4, (about \d+ (s|min) left|time left: not known yet)", line) for line in lines[:-1]
    )
    assert 1 <= len(lines[:-1]) <= 3


def test_observed_questions_are_marked(tmp_path: pathlib.Path) -> None:
    """In the tables of exercises and of submissions, in both files, on the page, and in the heading of an exercise."""
    exercises = tuple(dataclasses.replace(one, observed=one.question == "4.2") for one in FOUND.exercises)
    found, rows = dataclasses.replace(FOUND, exercises=exercises), [Row("k2m4n6p8", "graded", {"4.2": 2.0}, 2.0)]
    points, observed = {"4.1": 2.0, "4.2": 5.5}, frozenset({"4.2"})
    assert [line.split("  ")[0] for line in printed(report.exercise_table(found))][1:] == [
        "4.1 Which <case>?", "4.2 You compile (observed)",
    ]  # fmt: skip
    assert any("observed" in line for line in printed(report.table(rows, points, observed=observed)))
    report.write_csv(found, tmp_path / "a.csv")
    assert [row["observed"] for row in csv.DictReader((tmp_path / "a.csv").read_text().splitlines())] == ["", "observed"]
    report.write_scores(rows, points, tmp_path / "b.csv", observed=observed)
    assert "4.2 (observed)" in (tmp_path / "b.csv").read_text().splitlines()[0]
    page = report_page.page("04", found, rows, points)
    assert "<em>observed</em>" in page and "<em>Observed</em>" in page and "4.2 /5.5 observed" in page
    assert "bserved" not in report_page.page("04", FOUND, rows, points)
    assert "observed in running processes" in header.exercise(sample_questions.LAUNCHED)


LONG = "4.1: two-collectives-where-one-is-enough; 4.2, 4.3: stopped in cell 9: ValueError: shapes of the operands differ"
ROWS = [
    Row("k2m4n6p8", "graded", {f"4.{n}": 0.5 * n for n in range(1, 8)}, 14.0, LONG),
    Row("q3r5s7t9", "graded", {f"4.{n}": 2.5 for n in range(1, 8)}, 17.5),
]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_reasons_break_between_words(width: int) -> None:
    """At every width, below the points where there is no room beside them, and no line is longer than the terminal."""
    console = Console(file=io.StringIO(), width=width)
    console.print(report.table(ROWS, dict.fromkeys((f"4.{n}" for n in range(1, 8)), 2.5), "submission", width=width))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert all(word in words for word in LONG.split())
    assert sum(line.startswith("k2m4n6p8") for line in lines) == (2 if width == 80 else 1)
    assert not any(line.startswith("q3r5s7t9") for line in lines[lines.index("", 1) :]) if width == 80 else "" not in lines


MISSING = [f"key{n}" for n in range(20)]
ENROLMENTS = {
    "all": ((3, []), "3 enrolled, 3 handed in."),
    "some": ((117, MISSING[:3]), "120 enrolled, 117 handed in, missing: key0, key1, key2"),
    "many": (
        (1, MISSING),
        f"21 enrolled, 1 handed in, missing: {', '.join(MISSING[:12])} and 8 more (--verbose names them)",
    ),
    "many, all asked for": ((1, MISSING, True), f"21 enrolled, 1 handed in, missing: {', '.join(MISSING)}"),
    "an escape": ((0, ["\x1b[2J"]), "1 enrolled, 0 handed in, missing: \ufffd[2J"),
}


@pytest.mark.parametrize(("case", "said"), ENROLMENTS.values(), ids=ENROLMENTS)
def test_who_has_not_handed_in(case: tuple[int, list[str]], said: str) -> None:
    """How many there are and who is missing; of very many the first."""
    assert report.enrolment(*case) == said


def test_waiting_for_a_person_is_said() -> None:
    """In the last line, beside what is ungraded."""
    rows = [Row("a", "graded", waiting=True), Row("b", "graded")]
    waiting = "Waiting for a person, in Formgrader or by mark: 1. Their totals lack these points."
    said = f"2 submissions: 2 graded, 0 ungraded. {waiting}"
    assert summary(rows) == said
