"""Releasing an assignment: nbgrader's source and release trees, the gradebook's rows, the seed, and the references."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course import dependence, own, plan
from shardlab_course.editions import edition, header
from shardlab_course.variants import notebook, with_names
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.records import store
from shardlab_grader.releases import kept, places, references, variants, wheels
from shardlab_grader.releases.variants import Variants
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.term import reading
from shardlab_grader.term.settings import Assignment
from shardlab_judge.question import Question

ANEW = "or move it away and release again: a new seed is drawn, and everything is judged anew with other cases."


@dataclasses.dataclass(frozen=True)
class Release:
    """What must not change between a release and its grading: the seed and the manifests, drawn cases included."""

    course_dir: pathlib.Path
    assignment: str
    seed: int
    manifests: Mapping[str, Any]
    vary: Variants = Variants()

    def names(self, student: str) -> dict[str, str]:
        """What this student's notebook calls the axes that have other names; nothing where it has no variants."""
        return self.vary.names(self.assignment, self.seed, student)

    @property
    def common(self) -> dict[str, str]:
        """The names in the source and in the released notebook: those of the year."""
        return self.names("") if self.vary.by == "year" else {}

    @property
    def references(self) -> pathlib.Path:
        """File of the reference programs, for public and drawn cases."""
        return places.references(self.course_dir, self.assignment)

    @property
    def fingerprint(self) -> str:
        """Hash of everything in the release that a verdict depends on."""
        parts = [json.dumps([self.assignment, self.seed, self.manifests], sort_keys=True).encode(), self.judgement.encode()]
        paths = (self.references, self._notebook)
        return hashlib.sha256(b"\0".join(parts + [path.read_bytes() for path in paths])).hexdigest()

    @property
    def judgement(self) -> str:
        """Hash of all code that judges its questions."""
        return dependence.judgement(self.manifests)

    @property
    def notebook(self) -> NotebookNode:
        """The notebook that students were given."""
        return nbformat.read(self._notebook, as_version=4)

    @property
    def points(self) -> dict[str, float]:
        """The points of each question, from its grade cell: those of the course as it was when this was released."""
        marks = [cell.metadata.get("nbgrader", {}) for cell in self.notebook.cells]
        given = {mark.grade_id: float(mark.points) for mark in marks if mark.get("grade")}
        return {question: given["q" + question.replace(".", "-")] for question in self.manifests}

    @property
    def by_hand(self) -> dict[str, float]:
        """The points of each cell that a person grades, by its grade id."""
        marks = [cell.metadata.get("nbgrader", {}) for cell in self.notebook.cells]
        return {mark.grade_id: float(mark.points) for mark in marks if mark.get("grade") and mark.get("solution")}

    @property
    def copy(self) -> pathlib.Path | None:
        """The questions that it keeps, where they judge because the course's have changed since."""
        return kept.in_use(self.course_dir, self.assignment)

    def settings(self, mode: Mode) -> Settings:
        """How notebooks of this release are run and judged."""
        chapter = places.chapter(self.course_dir, self.assignment) or self.copy
        return Settings(places.cache(self.course_dir), mode, references=self.references, seed=self.seed, chapter=chapter)

    @classmethod
    def load(cls, course_dir: pathlib.Path, assignment: str) -> Release:
        """The release that was made.

        Raises:
            ShardlabError: it was not released, or not to the end; a file of it is damaged; its questions have changed,
                and those that it keeps cannot judge any more.
        """
        path, again = places.kept(course_dir, assignment), f"shardlab-grader release {assignment} --course {course_dir}"
        if not path.exists():
            raise ShardlabError("not-released", f"{assignment} has not been released.", where=str(path), mend=again)
        if (mark := places.unfinished(course_dir, assignment)).exists():
            mend = f"if no other release of it is running: {again}"
            raise ShardlabError("release-unfinished", "its release did not finish.", where=str(mark), mend=mend)
        raw = _read(path, ["seed", "manifests"], ANEW)
        found = cls(course_dir, assignment, raw["seed"], raw["manifests"], Variants(**raw.get("variants", {})))
        for needed, part in ((found.references, "facts"), (found._notebook, "cells")):
            _read(needed, [part], f"or release it again, which keeps the seed: {again}")
        if folder := places.chapter(course_dir, assignment):
            own.take(folder)
            same = found._is_asked()
        else:
            same = kept.find(course_dir, assignment, _chapter(found.manifests), found._is_asked)
        if not same:
            what = "its questions have changed since the release."
            mend = f"release it again (the seed stays): {again}"
            raise ShardlabError("release-outdated", what, where=str(path), mend=mend)
        return found

    def _is_asked(self) -> bool:
        """Whether the questions that this process finds ask what the release asks."""
        return self.manifests == _manifests(tuple(self.manifests), self.seed)

    def save(self) -> None:
        """Keep the release beside the gradebook."""
        raw = {"assignment": self.assignment, "seed": self.seed, "manifests": self.manifests, **self.vary.to_json()}
        raw["versions"] = dependence.versions()
        store.write(places.kept(self.course_dir, self.assignment), json.dumps(raw, indent=1, sort_keys=True) + "\n")

    @property
    def _notebook(self) -> pathlib.Path:
        return self.course_dir / "release" / self.assignment / f"{self.assignment}.ipynb"


def release(
    assignment: str,
    course_dir: pathlib.Path,
    root: pathlib.Path,
    mode: Mode = "bubblewrap",
    *,
    whole: bool = True,
    core: bool = False,
    vary: Variants | None = None,
    told: references.Told = references.silent,
) -> Release:
    """Release an assignment into a course directory, or release it again with the seed that it has.

    Args:
        assignment: the chapter's name, or the beginning of it; or the folder of an instructor's own chapter.
        course_dir: nbgrader's course directory; made when it is missing.
        root: the repository with `solutions/`; a chapter of one's own needs none.
        mode: where the solution runs to make the references.
        core: leave the optional exercises out of the notebook, whatever the course's settings say.
        vary: how its exercises vary; as in the release before, unless given.
        whole: run the cells that only show something too; not when they have run elsewhere, as in the tests.
        told: hears of each step, before it begins.
    Raises:
        ShardlabError: the chapter or its solution has a mistake, or nbgrader refuses.
    """
    path, folder, syllabus = _found(assignment, root)
    source, course_dir = edition.source(path, syllabus), course_dir.resolve()
    places.check_path(course_dir)
    own.leave(places.questions(course_dir, path.stem))
    decided = reading.load(course_dir)
    chosen = decided.of(path.stem)
    vary = vary or variants.kept(course_dir, path.stem)
    _copy_config(course_dir)
    students = sorted(Course(course_dir).students()) if vary.by == "student" else []
    variants.check(vary, path.stem, students)
    chosen = dataclasses.replace(chosen, core=core or chosen.core)
    source = _chosen(source, chosen, syllabus.questions, course_dir, path.stem)
    made = _drawn(course_dir, path.stem, edition.questions(source), vary)
    source, asked = notebook(source, made.common), {q: with_names(m, made.common) for q, m in made.manifests.items()}
    # Measured first, which takes longest and finds most mistakes; what was released before is then replaced in a moment.
    text = references.text(edition.solution(source), asked, made.settings(mode), whole=whole, told=told)
    told("writing the notebook and the gradebook, with nbgrader")
    with all_or_nothing(course_dir, path.stem):
        _put_beside(course_dir / "source" / path.stem, syllabus, decided.counting(syllabus.questions))
        _write(made, folder, edition.to_ipynb(source), text)
    if vary.by == "student":
        variants.write(course_dir, path.stem, vary, made.seed, students)
    return made


def _found(assignment: str, root: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path | None, header.Syllabus]:
    """A chapter's source, its folder where the chapter is an instructor's own, and the plan of all chapters."""
    path = chapter(assignment, root)
    folder = path.parent if path.parent.name == path.stem else None
    if folder:
        own.take(folder)
    return path, folder, header.installed() if folder else header.syllabus(root)


def _drawn(course_dir: pathlib.Path, assignment: str, questions: Sequence[str], vary: Variants) -> Release:
    """The release of these questions, with the seed that the assignment has, or a new one."""
    seed = _seed(course_dir, assignment)
    return Release(course_dir, assignment, seed, _manifests(questions, seed), vary)


def _write(made: Release, folder: pathlib.Path | None, notebook: str, costs: str) -> None:
    """Writes the release, its questions, the notebook and the gradebook, and what the references cost."""
    made.save()  # by which nbgrader's steps know that it is ours
    if folder:
        _with_questions(made, folder, references.public(costs, made.manifests))
    else:
        kept.keep(made.course_dir, made.assignment, _chapter(made.manifests))
    _generate(made.course_dir, made.assignment, notebook)
    # The judge reads it inside its sandbox, where it is not the owner; the directory keeps everybody else out.
    store.write(made.references, costs, 0o644)


def _put_beside(folder: pathlib.Path, syllabus: header.Syllabus, counting: dict[int, list[str]]) -> None:
    """Writes what students get with the notebook: packages that no address has, and the plan of a course that has one."""
    folder.mkdir(parents=True, exist_ok=True)
    if syllabus.address == header.UNSET:
        wheels.write(folder, f"{folder.name}.ipynb")
    (folder / plan.NAME).unlink(missing_ok=True)
    if counting:
        (folder / plan.NAME).write_text(plan.text(counting))


def _chosen(
    source: NotebookNode, chosen: Assignment, declared: Mapping[str, Question], course_dir: pathlib.Path, name: str
) -> NotebookNode:
    """The source with the points of the exercises that count; others that are not optional stay, for 0 points.

    Later cells may read the names of any exercise that is not optional. And once a student is entered, nbgrader refuses to
    remove an exercise: then those that were released stay.
    """
    asked = [declared[id] for id in edition.questions(source)]
    if not any(map(chosen.counts, asked)):
        mend = f"name at least one of {', '.join(question.id for question in asked)}."
        raise ShardlabError("bad-settings", "no exercise counts.", where=f"{course_dir / reading.FILE}: {name}", mend=mend)
    left_out = {question.id for question in asked if question.optional and not chosen.counts(question)}
    given = course_dir / "release" / name / f"{name}.ipynb"
    if left_out and given.exists() and Course(course_dir).begun(name):
        left_out -= {*edition.questions(nbformat.read(given, as_version=4))}
    return edition.worth(edition.without(source, left_out), {question.id: chosen.worth(question) for question in asked})


def revalue(course_dir: pathlib.Path, assignment: str, points: Mapping[str, float]) -> None:
    """Give a release's exercises other points; its seed, questions and references stay, and nothing runs."""
    source = nbformat.read(course_dir / "source" / assignment / f"{assignment}.ipynb", as_version=4)
    with all_or_nothing(course_dir, assignment):
        _generate(course_dir, assignment, edition.to_ipynb(edition.worth(source, points)))


def _with_questions(made: Release, folder: pathlib.Path, public: str) -> None:
    """Keep a chapter's questions with the release, and give them to students beside the notebook; no answer goes along."""
    released = places.kept(made.course_dir, made.assignment).parent / "chapters" / made.assignment
    for target in (released, made.course_dir / "source" / made.assignment / made.assignment):
        kept.copy(folder, target)
        store.write(target / "references.json", public, 0o644)


def _generate(course_dir: pathlib.Path, assignment: str, source: str) -> None:
    target = course_dir / "source" / assignment / f"{assignment}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(source)
    if error := Course(course_dir).generate(assignment):
        what = "nbgrader did not generate the assignment; everything is as it was."
        mend = "when submissions exist, no exercise can be added or removed: use a new course directory."
        raise ShardlabError("nbgrader-refuses", what, where=error, mend=mend)


@contextlib.contextmanager
def all_or_nothing(course_dir: pathlib.Path, assignment: str) -> Iterator[None]:
    """Put back what was there when this fails: nbgrader removes a release before it makes the next one.

    Who is killed meanwhile leaves a mark, and nothing is graded by the halves of two releases.
    """
    mark = places.unfinished(course_dir, assignment)
    paths = [course_dir / step / assignment for step in ("source", "release")]
    paths += [places.kept(course_dir, assignment), places.references(course_dir, assignment), course_dir / "gradebook.db"]
    paths += [course_dir / "shardlab" / "chapters" / assignment, places.questions(course_dir, assignment)]
    with tempfile.TemporaryDirectory() as directory:
        before = [(path, pathlib.Path(directory, str(n))) for n, path in enumerate(paths)]
        for path, copy in before:
            _copy(path, copy)
        store.write(mark, "")
        try:
            yield
        except BaseException:  # Ctrl-C too
            for path, copy in before:
                _copy(copy, path)
            mark.unlink(missing_ok=True)
            raise
        mark.unlink(missing_ok=True)


def _copy(path: pathlib.Path, target: pathlib.Path) -> None:
    """Make `target` what `path` is: a folder, a file, a database that others may have open, or nothing."""
    if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
        with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(target)) as made:
            source.backup(made)
        return
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    if path.is_dir():
        shutil.copytree(path, target)
    elif path.exists():
        shutil.copy2(path, target)


def chapter(assignment: str, root: pathlib.Path) -> pathlib.Path:
    """The source of the chapter whose name is, or begins with, `assignment`; or of that in a folder of one's own.

    Raises:
        ShardlabError: there is none, or more than one.
    """
    folder = pathlib.Path(assignment).resolve()
    if own.NAME.fullmatch(folder.name) and folder.is_dir():
        return own_source(folder)
    paths = {path.stem: path for path in edition.chapters(root)}
    return paths[places.named(assignment, list(paths), root / "solutions")]


def own_source(folder: pathlib.Path) -> pathlib.Path:
    """The source of the chapter in a folder of one's own.

    Raises:
        ShardlabError: this is no such folder.
    """
    path = folder.resolve() / f"{folder.resolve().name}.md"
    own.number(path.parent)
    missing = [path.name] * (not path.exists()) + [f"ex01/{own.QUESTION}"] * (not own.exercises(path.parent))
    if missing:
        mend = (
            "name a chapter's folder, with a folder ex01 for its first exercise; to begin one: shardlab-grader new 50_rings"
        )
        raise ShardlabError("no-chapter-here", f"there is no {missing[0]}.", where=str(path.parent), mend=mend)
    return path


def _chapter(questions: Iterable[str]) -> int:
    return int(next(iter(questions)).partition(".")[0])


def _manifests(questions: Sequence[str], seed: int) -> dict[str, Any]:
    from shardlab_course.chapters import question

    # As JSON has it: lists for tuples, so that a release can be compared with what it was.
    return json.loads(json.dumps({id: question(id).manifest(seed) for id in questions}))


def _seed(course_dir: pathlib.Path, assignment: str) -> int:
    path = places.kept(course_dir, assignment)
    return int(_read(path, ["seed"], ANEW)["seed"]) if path.exists() else secrets.randbelow(2**53)


def _read(path: pathlib.Path, parts: Sequence[str], mend: str) -> dict[str, Any]:
    """What a file of a release holds, which has these parts.

    Raises:
        ShardlabError: it is lost, or is not such a file.
    """
    try:
        found = json.loads(path.read_bytes())
        missing = [part for part in parts if not isinstance(found, dict) or part not in found]
    except FileNotFoundError:
        missing, said = ["all"], "is lost"
    except ValueError as error:
        missing, said = ["all"], f"is damaged ({error})"
    else:
        said = f"is damaged: it has no {' and no '.join(missing)}"
    if missing:
        what = f"a file of the release {said}."
        raise ShardlabError("release-damaged", what, where=str(path), mend=f"restore it from a backup; {mend}")
    return dict(found)


def keep_out_of_git(course_dir: pathlib.Path) -> None:
    """Names, submissions, keys and seeds: in a clone of this repository no `git add -A` may take them along."""
    ignored = course_dir / ".gitignore"
    # A course with a repository of its own decides for itself.
    if not ignored.exists() and not (course_dir / ".git").exists():
        ignored.write_text("# A course directory of Shardlab's: these files do not belong in a repository.\n*\n")


def _copy_config(course_dir: pathlib.Path) -> None:
    target, ours = course_dir / places.CONFIG, pathlib.Path(__file__).parents[1] / "nbgrader" / places.CONFIG
    course_dir.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        keep_out_of_git(course_dir)
        shutil.copyfile(ours, target)
    elif "shardlab_grader.nbgrader_plugin" not in target.read_text():
        raise places.foreign(course_dir)
