"""A chapter of an instructor's own: the authoring guide's section, word for word, and what may come of such a folder."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

import shardlab
from shardlab.errors import ShardlabError
from shardlab_course import answers, chapters, dependence, own
from shardlab_grader import cli
from shardlab_grader.classes import judging
from shardlab_grader.classes.notebook import Settings, student_sandbox
from shardlab_grader.own import check, new
from shardlab_grader.releases import places, wheels
from shardlab_grader.releases.release import Release
from shardlab_judge.cases import Observed
from shardlab_judge.question import Misconception
from test_distribution import build

from .test_scheduler import Cluster, started  # noqa: F401 (a fixture)

ROOT = pathlib.Path(__file__).parents[2]
GUIDE = (ROOT / "jupyter_book" / "authoring.md").read_text()
SECTION = GUIDE.partition("## A chapter of your own, without a fork\n")[2].partition("\n## ")[0]
STEP = re.compile(
    r"(?:`(?P<path>[\w./]+)`[^\n`]*:\n\n)?^(?P<fence>`{3,4})(?P<kind>\w+)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
NAME, ID = "50_sums", "50.1"
DECLARED = "ex01/question.py"
FORGED = """
import pathlib
pathlib.Path({mark!r}).touch()
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
QUESTION = Question("50.1", "", (ValueItem("column_sums", {{"V": 2.0}}, key=0),), 1, 1, ("", "", ""), "")
"""
HAND_INS = {"ada": "reference", "bo": "of_its_rows", "cy": "gathers", "di": "reference", "eve": "of_its_rows"}
"""By student the answer of the guide that they hand in; di writes a reason, eve puts forged questions beside hers."""
SCORES = {"ada": 2, "bo": 0, "cy": 1, "di": 2, "eve": 0}


@dataclasses.dataclass(frozen=True)
class Followed:
    """Where the guide was followed, with what each command printed."""

    folder: pathlib.Path
    environment: dict[str, str]
    said: dict[str, str]

    def run(self, command: str, cwd: pathlib.Path | None = None) -> str:
        """What a command prints; its failure is the test's."""
        where = cwd or self.folder
        ran = subprocess.run(["bash", "-ec", command], cwd=where, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    @property
    def released(self) -> pathlib.Path:
        """What students get."""
        return self.folder / "mycourse" / "release" / NAME


def steps() -> Iterator[tuple[str, str, str]]:
    """The section's blocks in order: path, kind and text."""
    yield from ((match["path"] or "", match["kind"], match["text"]) for match in STEP.finditer(SECTION))


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    """The guide's commands and files, one after the other, with the wheel and no checkout; a class hands in between."""
    folder, site, bin = (tmp_path_factory.mktemp(name) for name in ("instructor", "site", "bin"))
    wheel = build(ROOT, bin, "--target", "wheel")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(site), str(wheel)], check=True)
    path = os.pathsep.join([str(site / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    made = Followed(folder, {**os.environ, "PATH": path, "PYTHONPATH": str(site), "JAX_PLATFORMS": "cpu"}, {})
    for path, kind, text in steps():
        if kind != "sh":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            continue
        for line in text.splitlines():
            if line.startswith("shardlab-grader grade"):
                hand_in(made)
            if line.startswith(("shardlab-grader", "cp")):
                made.said[line] = made.run(line)
    return made


def hand_in(made: Followed) -> None:
    """Every student's notebook, with the answer that HAND_INS says."""
    for student, name in HAND_INS.items():
        notebook = nbformat.read(made.released / f"{NAME}.ipynb", as_version=4)
        cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
        cells["q50-1-answer"].source = sample(made.folder, name).source()
        if student == "di":
            cells["q50-why"].source = "One number for each column is sent."
        place = made.folder / "mycourse" / "submitted" / student / NAME
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{NAME}.ipynb")
        if student == "eve":
            for beside in (place / NAME, made.folder / "mycourse" / "51_forged"):
                (beside / "ex01").mkdir(parents=True)
                (beside / DECLARED).write_text(FORGED.format(mark=str(made.folder / "forged")))


def sample(folder: pathlib.Path, name: str) -> answers.Sample:
    """An answer of the guide's."""
    return next(s for s in answers.answers(folder / NAME, folder / NAME / f"{NAME}.md")[ID] if s.name == name)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No chapter of one's own is known, before and after."""
    monkeypatch.setenv(own.VARIABLE, "")


@pytest.fixture
def chapter(followed: Followed, tmp_path: pathlib.Path, alone: None) -> pathlib.Path:
    """A copy of the guide's folder, to be changed."""
    shutil.copytree(followed.folder / NAME, tmp_path / NAME)
    own.take(tmp_path / NAME)
    return tmp_path / NAME


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_the_guide_leads_to_scores(followed: Followed) -> None:
    """The page's commands run in order, its own chapter is in order, and right and wrong answers get their points."""
    checked = followed.said["shardlab-grader check 50_sums"]
    assert checked.splitlines() == [
        f"{what}: as it should be" for what in ("questions", "solution", "notebook with everything open", "answers")
    ]
    with (followed.folder / "scores.csv").open(newline="") as file:
        listed = [float(row[ID]) for row in csv.DictReader(file)]
    assert sorted(listed) == sorted(SCORES.values())
    with Gradebook(f"sqlite:///{followed.folder / 'mycourse' / 'gradebook.db'}") as gradebook:
        waiting = {one.student.id for one in gradebook.assignment_submissions(NAME) if one.needs_manual_grade}
    assert waiting == {"di"} and scores(followed.folder / "mycourse") == SCORES
    told = followed.said["shardlab-grader grade 50 --course mycourse"]
    assert told.count("own-rows") == 2 and told.count("gathers-rows") == 1
    page = (followed.folder / "mycourse" / "feedback" / "cy" / NAME / f"{NAME}.html").read_text()
    assert "All rows were brought to every device, and one row of sums would have done." in page


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_what_lies_beside_a_submission_is_not_looked_at(followed: Followed) -> None:
    """Forged questions beside a notebook, and in the directory where the command stands, were never run."""
    course = followed.folder / "mycourse"
    assert (course / "submitted" / "eve" / NAME / NAME / DECLARED).exists()
    followed.run("shardlab-grader report 50", cwd=course)
    followed.run("shardlab-grader grade 50 --verbose --course ../../..", cwd=course / "submitted" / "eve" / NAME)
    assert not (followed.folder / "forged").exists()


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_students_find_it_beside_the_notebook(followed: Followed, tmp_path: pathlib.Path) -> None:
    """With the folder there, a question is like one of the course's; without it the message says so."""
    shutil.copytree(followed.released, tmp_path / "there")
    (tmp_path / "away").mkdir()
    wrong, right = (sample(followed.folder, name).source() for name in ("gathers", "reference"))
    program = f"""
import shardlab as sl
sl.setup(8)
{wrong}
print(sl.check("50.1", column_sums))
print(sl.hint("50.1", 3))
{right}
print(sl.check("50.1", column_sums))
print(sl.explain("50.1"))
print(sl.progress().chapters[-1])
"""
    python = [sys.executable, "-c", program]
    said = subprocess.run(
        python, cwd=tmp_path / "there", env=followed.environment, capture_output=True, text=True, check=True
    ).stdout
    assert "All rows were brought to every device" in said and "one number for each column" in said
    assert (
        "✓ 50.1" in said
        and "Each device sums the rows that it holds" in said
        and "Chapter(number=50" in said
        and "states=('●',)" in said
    )
    lost = subprocess.run(python, cwd=tmp_path / "away", env=followed.environment, capture_output=True, text=True)
    assert "put the folder 50_... that came with the notebook beside it" in lost.stderr


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_students_get_no_answer_and_nothing_drawn(followed: Followed, alone: None) -> None:
    """The folder that is given out has the questions, and of the references the public cases."""
    assert {path.relative_to(followed.released).as_posix() for path in followed.released.rglob("*") if path.is_file()} == {
        f"{NAME}.ipynb",
        f"{NAME}/{DECLARED}",
        f"{NAME}/ex01/oracle.py",
        f"{NAME}/references.json",
        wheels.BEGIN,
        *(f"{one}-{shardlab.__version__}-py3-none-any.whl" for one in wheels.PACKAGES),
    }
    assert "psum" not in (followed.released / f"{NAME}.ipynb").read_text()
    course = followed.folder / "mycourse"
    public, all = (
        set(json.loads(path.read_text())["programs"])
        for path in (followed.released / NAME / "references.json", places.references(course, NAME))
    )
    made = Release.load(course, NAME)
    (item,) = chapters.question(ID).items
    assert public == {f"{ID}/column_sums/{case.key}" for case in item.cases}
    assert len(all - public) == item.drawn and made.manifests


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_only_the_judge_sees_it(followed: Followed, alone: None) -> None:
    """The copy of the release is mounted for the judge, and neither it nor its name for students' code."""
    course = followed.folder / "mycourse"
    settings = Release.load(course, NAME).settings("bubblewrap")
    kept = course.resolve() / "shardlab" / "chapters" / NAME
    assert settings.chapter == kept
    judge, student = judging.sandbox(settings), student_sandbox(settings)
    assert [mount.source for mount in judge.mounts if mount.source.is_relative_to(course)] == [settings.references, kept]
    assert not any(kept.is_relative_to(mount.source) for mount in student.mounts)
    assert own.VARIABLE in dict(judge.environment) and own.VARIABLE not in dict(student.environment)


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_released_questions_count_until_the_next_release(followed: Followed, tmp_path: pathlib.Path) -> None:
    """A change to the folder reaches nobody before it is released again; then all are judged by it, under the same seed.

    nbgrader's own command gives the same scores.
    """
    shutil.copytree(followed.folder, tmp_path / "instructor", symlinks=True)
    later = dataclasses.replace(followed, folder=tmp_path / "instructor")
    course, grade = later.folder / "mycourse", "shardlab-grader grade 50 --course mycourse"
    declared = later.folder / NAME / DECLARED
    declared.write_text(declared.read_text().replace('"H": 1}', '"H": 3}'))
    assert "as before, and not listed without --verbose: 5" in later.run(grade)
    seed = json.loads(places.kept(course, NAME).read_text())["seed"]
    later.run(f"shardlab-grader release {NAME} --course mycourse")
    assert json.loads(places.kept(course, NAME).read_text())["seed"] == seed
    later.run(grade)
    assert scores(course) == {"ada": 4, "bo": 0, "cy": 1, "di": 4, "eve": 0}
    shutil.rmtree(later.folder / NAME)
    later.run(f"nbgrader autograde {NAME} --force", cwd=course)
    assert scores(course) == {"ada": 4, "bo": 0, "cy": 1, "di": 4, "eve": 0}


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_a_cluster_judges_by_what_travels(followed: Followed, started: Cluster, tmp_path: pathlib.Path) -> None:  # noqa: F811
    """Workers that have never heard of the chapter give the same scores: its questions come with the release."""
    graded = shutil.ignore_patterns("verdicts", "autograded", "feedback")
    course = shutil.copytree(followed.folder / "mycourse", tmp_path / "mycourse", ignore=graded)
    followed.run(f"shardlab-grader grade 50 --course {course} --scheduler {started.address}")
    kept = [json.loads(path.read_text())["verdicts"][ID] for path in (course / "shardlab" / "verdicts").glob("*.json")]
    earned = [sum(part["points"] for part in verdict["parts"]) for verdict in kept]
    assert sorted(earned) == [0, 1, 2, 2]  # bo and eve have handed in the same


def scores(course: pathlib.Path) -> dict[str, float]:
    """Points in nbgrader's gradebook, by student."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(NAME)}


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_verdicts_depend_on_the_folder(chapter: pathlib.Path) -> None:
    """On all that judges in it, under any name; not on a hint, and not on its answers."""
    text = (chapter / DECLARED).read_text()
    before = dependence.judgement([ID])
    changes = {
        text.replace("What can a device sum", "What may a device sum"): False,
        text.replace('"""Exercise 50.1: sums of columns."""', '"""Sums."""'): False,
        text.replace("lambda m: m.sum(0)", "lambda m: m.sum(1)"): True,
    }
    for changed, judges in changes.items():
        assert changed != text
        (chapter / DECLARED).write_text(changed)
        assert (dependence.judgement([ID]) != before) is judges
    (chapter / DECLARED).write_text(text)
    assert dependence.judgement([ID]) == before
    with (chapter / "ex01" / "answers.py").open("a") as file:
        file.write("\n# Met in class.\n")
    assert dependence.judgement([ID]) == before
    (chapter / "shared.py").write_text("SLOPE = 2\n")
    assert dependence.judgement([ID]) != before


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_a_changed_folder_is_read_again(chapter: pathlib.Path) -> None:
    """In a process that lives on, with modules beside the questions; and ours stay what they are."""
    assert chapters.question(ID).title == "Sums of columns" and list(chapters.CHAPTERS)[-1] == 50
    (chapter / "ex01" / "words.py").write_text('TITLE = "Columns"\n')
    text = (chapter / DECLARED).read_text()
    (chapter / DECLARED).write_text(
        text.replace('"Sums of columns"', "TITLE").replace("import random", "import random\nfrom .words import TITLE")
    )
    assert chapters.question(ID).title == "Columns"
    (chapter / "ex01" / "words.py").write_text('TITLE = "Other columns"\n')
    assert chapters.question(ID).title == "Other columns"
    (chapter / DECLARED).write_text("1 / 0\n")
    with pytest.raises(ShardlabError, match=r"(?s)\[chapter-does-not-load\].*ZeroDivisionError.*question\.py, line 1"):
        chapters.question(ID)
    assert chapters.question("4.2").id == "4.2"


ANSWERED = "column_sums = lambda mesh, m: m.sum(0)\n```\n\n```{code-cell} ipython3\nsl.check("
OPEN = "notebook with everything open"
FAULTS = {
    "too long a hint": (DECLARED, "What can a", "What " * 41 + "can a", "questions", "a hint has more than 40 words"),
    "no answer for a cause": (
        "ex01/answers.py",
        '"still-owed", 0',
        '"-", 0',
        "questions",
        "there is no wrong answer for still-owed",
    ),
    "other points": ("ex01/answers.py", 'rows", 1', 'rows", 0.5', "answers", "50.1, gathers: 1 points, not 0.5"),
    "a right answer fails": (
        "ex01/answers.py",
        "(m.sum(0)",
        "(m.sum(1)",
        "answers",
        "left_to_the_compiler: failed, not passed",
    ),
    "answered already": ("50_sums.md", "sl.check(", ANSWERED, OPEN, "50.1: it already has an answer"),
}


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
@pytest.mark.parametrize(("path", "old", "new", "look", "said"), FAULTS.values(), ids=FAULTS)
def test_a_check_finds(chapter: pathlib.Path, path: str, old: str, new: str, look: str, said: str) -> None:
    """What is wrong with a chapter, where it is looked at."""
    text = (chapter / path).read_text()
    assert text.count(old) == 1
    (chapter / path).write_text(text.replace(old, new))
    found = dict(check.check(chapter, "bubblewrap"))
    assert said in "\n".join(found[look])
    assert [name for name, faults in found.items() if faults] == [look]


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_a_check_says_what_it_found_by_its_status(chapter: pathlib.Path) -> None:
    """The command goes on after a fault, prints it below what was looked at, and ends with status 1."""
    path = chapter / DECLARED
    path.write_text(path.read_text().replace("What can a", "What " * 41 + "can a"))
    ran = CliRunner().invoke(cli.main, ["check", str(chapter)])
    assert ran.exit_code == 1
    assert ran.stdout.startswith("questions:\n  50.1: a hint has more than 40 words\nsolution: as it should be\n")
    steps = [line.split(" s  ")[1] for line in ran.stderr.splitlines()]
    assert steps[1:3] == ["compiling and judging the answers to 1 question", "running the notebook as students get it"]
    assert re.fullmatch(r"running the solution's \d+ cells in the sandbox", steps[0])
    assert re.fullmatch(r"judging \d answers to 50.1", steps[3])


@pytest.mark.thorough
@pytest.mark.sandbox
def test_one_part_alone(chapter: pathlib.Path) -> None:
    """Answers, or those to one exercise, without running the solution; an exercise that is not there is told."""
    for option in (["--only", "answers"], ["--question", ID]):
        ran = CliRunner().invoke(cli.main, ["check", str(chapter), *option])
        assert (ran.exit_code, ran.stdout) == (0, "answers: as it should be\n"), ran.output
        assert len(ran.stderr.splitlines()) == 1 and f"answers to {ID}" in ran.stderr
    ran = CliRunner().invoke(cli.main, ["check", str(chapter), "--question", "50.7"])
    assert ran.exit_code == 1 and "name one of: 50.1" in ran.stderr.replace("declare it", "")
    assert list(dict(check.check(chapter, "bubblewrap", only="questions"))) == ["questions"]


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_it_is_a_page_of_a_book(followed: Followed) -> None:
    """As the guide says, with its headings and the exercise."""
    *_, (_, _, commands) = steps()
    followed.run(commands)
    page = (followed.folder / "mybook" / "_build" / "html" / f"{NAME}.html").read_text()
    assert "Exercise 50.1: Sums of columns" in page


def test_the_guide_explains_every_field() -> None:
    """Of what a predicate is given, and of how a misconception is recognised."""
    listed = {
        name for row in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", SECTION, re.MULTILINE) for name in re.findall(r"\w+", row)
    }
    seen = {field.name for field in dataclasses.fields(Observed)} | {
        name for name in vars(Observed) if not name.startswith("_")
    }
    how = {field.name for field in dataclasses.fields(Misconception)} - {"id", "cause", "hint", "barred"}
    assert listed - {"Observed"} == seen | how


@pytest.mark.parametrize("name", ["rings", "4_rings", "49_rings", "100_rings", "50", "50_", "50-rings"])
def test_names_that_cannot_be(name: str, tmp_path: pathlib.Path) -> None:
    """A number of the course's, or none, is refused, and nothing is made."""
    with pytest.raises(ShardlabError, match=r"\[chapter-name\]"):
        new.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_left_alone(tmp_path: pathlib.Path) -> None:
    """A folder is begun once; one without a chapter is named."""
    (tmp_path / "50_rings").mkdir()
    with pytest.raises(ShardlabError, match=r"\[chapter-exists\]"):
        new.write(tmp_path / "50_rings")
    with pytest.raises(ShardlabError, match=r"(?s)\[no-chapter-here\] there is no 50_rings\.md"):
        dict(check.check(tmp_path / "50_rings", "bubblewrap"))


def test_the_first_of_two_counts(tmp_path: pathlib.Path, alone: None) -> None:
    """Taken last is found first; what is gone is not found."""
    for name in ("50_rings", "50_sums"):
        (tmp_path / name).mkdir()
        own.take(tmp_path / name)
    assert own.folders() == {50: tmp_path / "50_sums"}
    own.take(tmp_path / "50_rings")
    assert own.folders() == {50: tmp_path / "50_rings"}
    (tmp_path / "50_rings").rmdir()
    assert own.folders() == {50: tmp_path / "50_sums"}


def test_the_settings_of_a_course_chapter_name_none(tmp_path: pathlib.Path) -> None:
    """The judge of a chapter of the course sees no other folder, whatever the environment says."""
    made = judging.sandbox(Settings(tmp_path))
    assert own.VARIABLE not in dict(made.environment)
