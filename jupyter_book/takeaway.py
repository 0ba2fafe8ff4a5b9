"""All notebooks in one file, with the package that they need: for a reader without the repository."""

from __future__ import annotations

import pathlib
import zipfile

from shardlab_grader.releases import wheels

NAME = "shardlab-notebooks.zip"
BEGIN = """Shardlab: the notebooks of the course.

Open 00_first_light.ipynb first, in JupyterLab or elsewhere, and leave both .whl files beside it: where Shardlab is
not installed, a notebook's first cell installs it from there, with the JAX that it is made for. On Colab and Kaggle bring
both files. Without Jupyter, install it first:

    python -m pip install jupyterlab
    jupyter lab 00_first_light.ipynb
"""
DATE = (1980, 1, 1, 0, 0, 0)
"""One for all files, so that the same notebooks give the same archive."""


def write(target: pathlib.Path, root: pathlib.Path) -> None:
    """Put every notebook into `target`, with the packages that a release has beside its notebook."""
    parts = {path.name: path.read_bytes() for path in sorted((root / "notebooks").glob("[0-9]*.ipynb"))}
    parts |= dict(map(wheels.wheel, wheels.PACKAGES))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"BEGIN.txt": BEGIN.encode(), **parts}.items():
            archive.writestr(zipfile.ZipInfo(f"shardlab/{name}", DATE), content, zipfile.ZIP_DEFLATED)
