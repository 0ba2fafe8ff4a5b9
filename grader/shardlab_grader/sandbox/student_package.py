"""The student package: helper and lens, whole, and nothing that lies beside them: no question, no key, no judge."""

from __future__ import annotations

import compileall
import functools
import hashlib
import importlib.util
import os
import pathlib
import py_compile
import shutil
import tempfile
from collections.abc import Iterator

from shardlab.errors import ShardlabError

STUDENT = ("shardlens", "shardlab")
"""The packages that students' code sees."""
PACKAGES = (*STUDENT, "shardlab_judge", "shardlab_course")
"""What judges, in the order in which they build on one another."""


def installed() -> pathlib.Path:
    """The directory in which this Python finds `shardlab`, and beside it the judge and the course."""
    import shardlab

    return pathlib.Path(next(iter(shardlab.__path__))).resolve().parent


def home(package: str, site: pathlib.Path) -> pathlib.Path:
    """The folder of a package: the one in `site`, or where this Python finds it, as it does the lens in a working tree."""
    spec = None if (site / package).is_dir() else importlib.util.find_spec(package)
    found = spec.submodule_search_locations if spec else None
    return pathlib.Path(next(iter(found))).resolve() if found else site / package


def student_package(cache: pathlib.Path, site: pathlib.Path | None = None) -> pathlib.Path:
    """A directory that holds the packages for students, made once for each content and kept in `cache`.

    Its folder `nothing` is empty: it covers what must not be seen.

    Args:
        cache: a directory of the grader's; made when it is missing.
        site: the directory that holds `shardlab`; the installed one unless given.
    Raises:
        ShardlabError: there is no package there.
    """
    homes = tuple(home(package, site or installed()) for package in STUDENT)
    files = tuple((source, file) for source in homes for file in sorted(_files(source)))
    if missing := [source for source in homes if not source.is_dir()]:
        what, mend = "there is no shardlab to give to students.", "pip install -e lens -e ."
        raise ShardlabError("no-package", what, where=str(missing[0]), mend=mend)
    states = tuple((state.st_mtime_ns, state.st_size) for source, file in files for state in [(source / file).stat()])
    made = cache / f"student-{_digest(files, states)}"
    if not made.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _make(files, made)
    return made


File = tuple[pathlib.Path, pathlib.Path]
"""The folder of a package, and a file inside it."""


def _files(source: pathlib.Path) -> Iterator[pathlib.Path]:
    for path in source.rglob("*"):
        inside = path.relative_to(source)
        if path.is_file() and "__pycache__" not in inside.parts and path.suffix != ".pyc":
            yield inside


@functools.lru_cache(maxsize=8)
def _digest(files: tuple[File, ...], states: tuple[tuple[int, int], ...]) -> str:
    digest = hashlib.sha256()
    for source, file in files:
        content = (source / file).read_bytes()
        digest.update(f"{source.name}/{file.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:24]


def _make(files: tuple[File, ...], made: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
        draft = pathlib.Path(scratch, "draft")
        for source, file in files:
            target = draft / source.name / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, target)
        (draft / "nothing").mkdir()
        # Compiled here, because the sandbox cannot write beside the sources.
        compileall.compile_dir(draft, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        for path in (draft, *draft.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        try:
            os.rename(draft, made)
        except OSError:
            if not made.is_dir():  # another grading run was faster
                raise
