"""Sets the repository's address wherever it stands, and says what is to be done before a release.

Run as `python -m shardlab_tools.address https://github.com/OWNER/NAME`, or without an address for the list. It stands in
`pyproject.toml`; the other files repeat it, and `make address` writes the notebooks anew, whose first cells install from it.
"""

from __future__ import annotations

import pathlib
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence

from shardlab_course.editions import header

FILES = (
    "pyproject.toml",
    "lens/pyproject.toml",
    "CITATION.cff",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    ".github/ISSUE_TEMPLATE/config.yml",
)
FORM = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")


def address(root: pathlib.Path) -> str:
    """The address as it is."""
    return str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Repository"])


def put(root: pathlib.Path, new: str) -> list[str]:
    """Write a new address into every file that has it; their names.

    Raises:
        ValueError: it is no address of a repository on GitHub, nor the one that says that none is set.
    """
    if not FORM.fullmatch(new) and new != header.UNSET:
        raise ValueError(
            f"{new!r} is not of the form https://github.com/OWNER/NAME, from which Colab and Kaggle open notebooks"
        )
    old, changed = address(root), []
    for name in FILES:
        text = (root / name).read_text()
        if old in text:
            (root / name).write_text(text.replace(old, new))
            changed.append(name)
    return changed


def open_steps(root: pathlib.Path) -> Iterator[str]:
    """What is still to be done before a release, in order."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if address(root) == header.UNSET:
        yield "set the repository's address: make address URL=https://github.com/OWNER/NAME"
    if f"## {version} (not released)" in (root / "CHANGELOG.md").read_text():
        yield f"write the date of {version} into CHANGELOG.md"
    yield f"tag the commit v{version}: first cells install that tag"
    yield "push the tag: the workflow for releases builds, tests and publishes"
    yield "open a notebook on Colab and on Kaggle, and note what was seen in jupyter_book/doors.json"


def main(arguments: Sequence[str]) -> int:
    """Set the address, or list what is to be done; the exit status."""
    root = pathlib.Path.cwd()
    if not arguments:
        print("Before it is published:", *(f"- [ ] {step}" for step in open_steps(root)), sep="\n")
        return 0
    try:
        changed = put(root, arguments[0].rstrip("/").removesuffix(".git"))
    except ValueError as error:
        print(f"{error}\n  mend:  make address URL=https://github.com/OWNER/NAME")
        return 1
    print(f"The address stands in {', '.join(changed)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
