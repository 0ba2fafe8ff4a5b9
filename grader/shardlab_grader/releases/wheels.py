"""What students need beside a notebook: wheels of the lens and the course as they are installed here, less the grader."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import importlib.util
import io
import pathlib
import sys
import zipfile
from collections.abc import Iterator, Sequence

from shardlab_course import own

PACKAGES = {"shardlens": ("shardlens",), "shardlab": ("shardlab", "shardlab_judge", "shardlab_course")}
"""By distribution what students import of it."""
DATE = (1980, 1, 1, 0, 0, 0)
"""One for all files, so that the same packages give the same wheel."""
WHEEL = "Wheel-Version: 1.0\nGenerator: shardlab-grader\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
BEGIN = "BEGIN.txt"
TOLD = """How to begin with {notebook}

Where Shardlab is not installed, the notebook's first cell installs it from the two .whl files, with the JAX that it is
made for. The cell looks for them beside the notebook.

On a laptop: keep all files of this folder together. With Python 3.11 or newer:

    python -m pip install jupyterlab
    jupyter lab {notebook}

On Colab: open the notebook with File, Upload notebook. Then choose the folder in the left margin, drag both .whl files
into it, and run the first cell. Colab deletes files when the session ends; then upload them again.

On Kaggle: open the notebook with File, Import notebook. Choose Add Input, Upload, and make a dataset of both .whl files.
Switch Internet on in the notebook's settings, and run the first cell.
"""


def write(folder: pathlib.Path, notebook: str) -> None:
    """Put both wheels and a text that says how to begin into a folder, in place of those of another version."""
    for old in folder.glob("*.whl"):
        old.unlink()
    for distribution in PACKAGES:
        name, content = wheel(distribution)
        (folder / name).write_bytes(content)
    (folder / BEGIN).write_text(TOLD.format(notebook=notebook))


def wheel(distribution: str) -> tuple[str, bytes]:
    """The name and the bytes of the wheel of an installed distribution, also of one that is installed in place."""
    installed = importlib.metadata.distribution(distribution)
    stem = f"{distribution}-{installed.version}"
    parts = (
        dict(_sources(PACKAGES[distribution])) | dict(_shared(installed, stem)) | dict(_about(installed, distribution, stem))
    )
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for name, content in parts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow((name, f"sha256={digest}", len(content)))
    rows.writerow((f"{stem}.dist-info/RECORD", "", ""))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in (parts | {f"{stem}.dist-info/RECORD": table.getvalue().encode()}).items():
            archive.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)
    return f"{stem}-py3-none-any.whl", made.getvalue()


def _sources(packages: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for package in packages:
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.submodule_search_locations
        home = pathlib.Path(spec.submodule_search_locations[0])
        for path in sorted(home.rglob("*")):
            # What an exercise must tell apart is for its authors, and would give its solution away.
            answers = path.name == own.ANSWERS and own.EXERCISE.fullmatch(path.parent.name)
            hidden = path.name.startswith(".") or "__pycache__" in path.parts
            if path.is_file() and not hidden and not answers:
                yield path.relative_to(home.parent).as_posix(), path.read_bytes()


def _shared(installed: importlib.metadata.Distribution, stem: str) -> Iterator[tuple[str, bytes]]:
    """What every kernel of the environment reads."""
    prefix = pathlib.Path(sys.prefix).resolve()
    for file in installed.files or ():
        path = pathlib.Path(str(file.locate())).resolve()
        if path.is_relative_to(prefix / "etc"):
            yield f"{stem}.data/data/{path.relative_to(prefix).as_posix()}", path.read_bytes()


def _about(installed: importlib.metadata.Distribution, distribution: str, stem: str) -> Iterator[tuple[str, bytes]]:
    folder = f"{stem}.dist-info"
    yield f"{folder}/METADATA", (installed.read_text("METADATA") or "").encode()
    yield f"{folder}/WHEEL", WHEEL.encode()
    packages = PACKAGES[distribution]
    points = [one for one in installed.entry_points if one.module.partition(".")[0] in packages]
    groups = {one.group: [f"{each.name} = {each.value}" for each in points if each.group == one.group] for one in points}
    if groups:
        text = "\n".join("\n".join([f"[{group}]", *lines, ""]) for group, lines in groups.items())
        yield f"{folder}/entry_points.txt", text.encode()
    for file in installed.files or ():
        if file.parent.as_posix() == f"{folder}/licenses":
            yield file.as_posix(), file.read_binary()
