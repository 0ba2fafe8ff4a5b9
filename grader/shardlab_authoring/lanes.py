"""The lanes: which JAX each Python gets, by `constraints.txt`, and which Pythons this machine has.

Run as `python -m shardlab_authoring.lanes` at the root of the repository, it prints each lane and its Python here; with
`--other`, only the newest Python whose JAX is not that of the one that runs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.version import Version

CONSTRAINTS = pathlib.Path("constraints.txt")
FIRST_MINOR = 11
ASK = "import platform; print(platform.python_version())"
HOMES = {"PYENV_ROOT": "~/.pyenv", "UV_PYTHON_INSTALL_DIR": "~/.local/share/uv/python"}
"""Where version managers keep Pythons: the variable that says so, and the folder where nothing does."""


def pins(text: str, python: str) -> dict[str, str]:
    """The versions that a Python gets, by package, of a constraints file's text."""
    about = {"python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    lines = map(Requirement, text.splitlines())
    return {
        one.name: str(one.specifier).removeprefix("==") for one in lines if one.marker is None or one.marker.evaluate(about)
    }


def jax_of(root: pathlib.Path, python: str) -> str:
    """The JAX that a Python, such as `3.13.0`, gets."""
    return pins((root / CONSTRAINTS).read_text(), python)["jax"]


def known(root: pathlib.Path) -> list[str]:
    """The JAX of each lane, the oldest first."""
    asked = map(Requirement, (root / CONSTRAINTS).read_text().splitlines())
    return sorted((str(one.specifier).removeprefix("==") for one in asked if one.name == "jax"), key=Version)


def pythons(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The Pythons that run here, by version, the newest first: of the path, of pyenv and of uv."""
    found: dict[str, str] = {}
    for path in _candidates(environment):
        ran = subprocess.run([path, "-c", ASK], capture_output=True, text=True, env=dict(environment))
        if ran.returncode == 0:  # a version manager's stand-in for a version that is not chosen fails
            found.setdefault(ran.stdout.strip(), str(path))
    return {version: found[version] for version in sorted(found, key=Version, reverse=True)}


def _candidates(environment: Mapping[str, str]) -> Iterator[pathlib.Path]:
    folders = [pathlib.Path(text) for text in environment.get("PATH", "").split(os.pathsep) if text]
    for variable, usual in HOMES.items():
        home = pathlib.Path(environment.get(variable) or pathlib.Path(usual).expanduser())
        folders += sorted(home.glob("versions/*/bin" if variable == "PYENV_ROOT" else "*/bin"))
    for folder in folders:
        for path in sorted(folder.glob("python3.*")):
            minor = re.fullmatch(r"python3\.(\d+)", path.name)
            if minor and int(minor[1]) >= FIRST_MINOR and os.access(path, os.X_OK):
                yield path


def other(root: pathlib.Path, here: str, found: Mapping[str, str]) -> str:
    """The newest Python, of those found by version, whose JAX is not that of `here`; empty if there is none."""
    return next((path for version, path in found.items() if jax_of(root, version) != jax_of(root, here)), "")


def main(arguments: Sequence[str]) -> None:
    """Print the lanes, or the other lane's Python."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--other", action="store_true", help="the newest Python of another lane, and nothing else")
    root, found = pathlib.Path.cwd(), pythons()
    if parser.parse_args(arguments).other:
        print(other(root, platform.python_version(), found))
        return
    for jax in known(root):
        here = [f"{version} ({path})" for version, path in found.items() if jax_of(root, version) == jax]
        print(f"JAX {jax}: Python {', '.join(here) or 'none is here'}")


if __name__ == "__main__":
    main(sys.argv[1:])
