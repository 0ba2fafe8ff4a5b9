"""Releasing an assignment: nbgrader's source and release trees, the gradebook's rows, the seed, and the references."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import secrets
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course import dependence
from shardlab_course.editions import edition, header
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.nbgrader.course import CONFIG, Course
from shardlab_grader.records import store
from shardlab_grader.releases import places, references
from shardlab_grader.sandbox.box import Mode


@dataclasses.dataclass(frozen=True)
class Release:
    """What must not change between a release and its grading: the seed and the manifests, drawn cases included."""

    course_dir: pathlib.Path
    assignment: str
    seed: int
    manifests: Mapping[str, Any]

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

    def settings(self, mode: Mode) -> Settings:
        """How notebooks of this release are run and judged."""
        return Settings(places.cache(self.course_dir), mode, references=self.references, seed=self.seed)

    @classmethod
    def load(cls, course_dir: pathlib.Path, assignment: str) -> Release:
        """The release that was made.

        Raises:
            ShardlabError: it was not released, or the questions have changed since.
        """
        path = places.kept(course_dir, assignment)
        if not path.exists() or not places.references(course_dir, assignment).exists():
            mend = f"shardlab-grader release {assignment} --course {course_dir}"
            raise ShardlabError("not-released", f"{assignment} has not been released.", where=str(path), mend=mend)
        raw = json.loads(path.read_text())
        found = cls(course_dir, assignment, raw["seed"], raw["manifests"])
        if found.manifests != _manifests(tuple(found.manifests), found.seed):
            what = "its questions have changed since the release."
            mend = f"release it again (the seed stays): shardlab-grader release {assignment} --course {course_dir}"
            raise ShardlabError("release-outdated", what, where=str(path), mend=mend)
        return found

    def save(self) -> None:
        """Keep the release beside the gradebook."""
        raw = {"assignment": self.assignment, "seed": self.seed, "manifests": self.manifests}
        raw["versions"] = dependence.versions()
        store.write(places.kept(self.course_dir, self.assignment), json.dumps(raw, indent=1, sort_keys=True) + "\n")

    @property
    def _notebook(self) -> pathlib.Path:
        return self.course_dir / "release" / self.assignment / f"{self.assignment}.ipynb"


def release(
    assignment: str, course_dir: pathlib.Path, root: pathlib.Path, mode: Mode = "bubblewrap", *, whole: bool = True
) -> Release:
    """Release an assignment into a course directory, or release it again with the seed that it has.

    Args:
        assignment: the chapter's name, or the beginning of it.
        course_dir: nbgrader's course directory; made when it is missing.
        root: the repository with `solutions/`.
        mode: where the solution runs to make the references.
        whole: run the cells that only show something too; not when they have run elsewhere, as in the tests.
    Raises:
        ShardlabError: the chapter or its solution has a mistake, or nbgrader refuses.
    """
    path = chapter(assignment, root)
    source = edition.source(path, header.syllabus(root))
    course_dir = course_dir.resolve()
    _copy_config(course_dir, root)
    target = course_dir / "source" / path.stem / f"{path.stem}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(edition.to_ipynb(source))
    if error := Course(course_dir).generate(path.stem):
        what = "nbgrader did not generate the assignment."
        mend = "when submissions exist, no exercise can be added or removed: use a new course directory."
        raise ShardlabError("nbgrader-refuses", what, where=error, mend=mend)
    seed = _seed(course_dir, path.stem)
    made = Release(course_dir, path.stem, seed, _manifests(edition.questions(source), seed))
    made.save()
    text = references.text(edition.solution(source), made.manifests, made.settings(mode), whole=whole)
    # The judge reads it inside its sandbox, where it is not the owner; the directory keeps everybody else out.
    store.write(made.references, text, 0o644)
    return made


def chapter(assignment: str, root: pathlib.Path) -> pathlib.Path:
    """The source of the chapter whose name is, or begins with, `assignment`.

    Raises:
        ShardlabError: there is none, or more than one.
    """
    paths = {path.stem: path for path in edition.chapters(root)}
    return paths[places.named(assignment, list(paths), root / "solutions")]


def _manifests(questions: Sequence[str], seed: int) -> dict[str, Any]:
    from shardlab_course.chapters import question

    # As JSON has it: lists for tuples, so that a release can be compared with what it was.
    return json.loads(json.dumps({id: question(id).manifest(seed) for id in questions}))


def _seed(course_dir: pathlib.Path, assignment: str) -> int:
    path = places.kept(course_dir, assignment)
    return json.loads(path.read_text())["seed"] if path.exists() else secrets.randbelow(2**53)


def keep_out_of_git(course_dir: pathlib.Path) -> None:
    """Names, submissions, keys and seeds: in a clone of this repository no `git add -A` may take them along."""
    ignored = course_dir / ".gitignore"
    # A course with a repository of its own decides for itself.
    if not ignored.exists() and not (course_dir / ".git").exists():
        ignored.write_text("# A course directory of Shardlab's: what lies here is not for a repository.\n*\n")


def _copy_config(course_dir: pathlib.Path, root: pathlib.Path) -> None:
    target, ours = course_dir / CONFIG, root / "grader" / CONFIG
    course_dir.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        keep_out_of_git(course_dir)
        shutil.copyfile(ours, target)
    elif "shardlab_grader.nbgrader_plugin" not in target.read_text():
        mend = "add to it:\n" + "\n".join(line for line in ours.read_text().splitlines() if "configure" in line)
        what = "the course directory has a configuration without ours."
        raise ShardlabError("foreign-config", what, where=str(target), mend=mend)
