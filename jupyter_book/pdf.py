"""The course as one PDF: Chromium prints each page of the rendered book, and the prints are joined under an outline.

Run as `python jupyter_book/pdf.py FILE [PAGE ...]` after `make book`; pages are named as in `_toc.yml`, and are all of them
but the solutions and the playground unless given.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

import yaml
from pypdf import PdfReader, PdfWriter

HERE = pathlib.Path(__file__).parent
BOOK = HERE.parent / "build" / "book"
LEFT_OUT = ("solutions/", "playground")
"""Pages that would tell, or that only a browser can show."""
SECONDS = 120
"""For one page, formulas and pictures included."""


def contents(book: pathlib.Path = BOOK) -> list[tuple[str, list[str]]]:
    """The parts of the book with the names of their pages, in order, without those in `LEFT_OUT`."""
    toc = yaml.safe_load((HERE / "_toc.yml").read_text())
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        found = [name for entry in part["chapters"] for name in _names(entry, book / "pages")]
        parts.append((part["caption"], [name for name in found if not name.startswith(LEFT_OUT)]))
    return [(caption, names) for caption, names in parts if names]


def _names(entry: dict[str, str], pages: pathlib.Path) -> Iterator[str]:
    if "file" in entry:
        yield entry["file"]
    else:
        yield from (path.relative_to(pages).with_suffix("").as_posix() for path in sorted(pages.glob(entry["glob"] + ".md")))


def printed(page: pathlib.Path, target: pathlib.Path, chromium: str) -> PdfReader:
    """One page as Chromium prints it.

    Raises:
        subprocess.CalledProcessError: Chromium failed.
        subprocess.TimeoutExpired: it took longer than `SECONDS`.
    """
    with tempfile.TemporaryDirectory() as profile:
        look = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        wait = ["--virtual-time-budget=20000", f"--print-to-pdf={target}"]  # until formulas are set
        command = [chromium, *look, *wait, page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return PdfReader(target)


def joined(
    parts: Sequence[tuple[str, Sequence[str]]], target: pathlib.Path, chromium: str, book: pathlib.Path = BOOK
) -> int:
    """Print and join these pages; how many sheets there are."""
    writer = PdfWriter()
    with tempfile.TemporaryDirectory() as folder:
        for caption, names in parts:
            part = writer.add_outline_item(title=caption, page_number=len(writer.pages)) if caption else None
            for number, name in enumerate(names):
                page = book / "_build" / "html" / f"{name}.html"
                reader = printed(page, pathlib.Path(folder) / f"{number}.pdf", chromium)
                title = (reader.metadata.title if reader.metadata else None) or name
                writer.add_outline_item(title=title.partition(" — ")[0], page_number=len(writer.pages), parent=part)
                for sheet in reader.pages:
                    writer.add_page(sheet)
    writer.add_metadata({"/Title": "Shardlab"})
    writer.compress_identical_objects()
    target.parent.mkdir(parents=True, exist_ok=True)
    writer.write(target)
    return len(writer.pages)


def main(arguments: Sequence[str]) -> int:
    """Print the book, or the pages that are named; the exit status."""
    target, *names = arguments
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("There is no Chromium to print with.\n  mend:  sudo apt-get install chromium   (Debian, Ubuntu)")
        return 1
    parts = [("", names)] if names else contents()
    sheets = joined(parts, pathlib.Path(target), chromium)
    print(f"The book on {sheets} sheets: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
