"""Builds the rendered book: collects its pages in `build/book/pages`, then lets Jupyter Book run and render them.

Run as `python jupyter_book/render.py [FOLDER]`; the folder is `build/book` unless given, and the page to open first is
`FOLDER/_build/html/index.html`. What a chapter prints is kept in `FOLDER/cache` until a module that it uses, JAX or Python
changes; what the tests have run is not run again. Pages that are as they were stay as they are rendered, unless something
has changed that shows on all of them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

import architecture
import chapters
import cover
import exercises
import expected
import golfing
import landing
import nbformat
import playgrounds
import status
import takeaway
import yaml
from jupyter_cache.base import CacheBundleIn

from shardlab_authoring import executed
from shardlab_course.editions import header

ROOT = pathlib.Path(__file__).parent.parent
HERE = pathlib.Path(__file__).parent
SOLUTIONS = "solutions/*"
FRESH = "fresh"
CACHE, COMPILED = "cache", "compiled"
COMMON = "common.txt"
"""What of the last book shows on all of its pages, as a digest; there is none when it was not built to its end."""
PAIR = ("notebooks", "solutions")
OF_ALL = ("status.md", "errors.md", "glossary.md", "api.md")
"""Rendered with any other page: they tell of all, or have entries in the search index, which Sphinx forgets otherwise."""
APART = (".ipynb", ".zip", ".json")
"""Files that are downloaded, or loaded by playgrounds, and figures that the status page shows in its text."""
SEEN = re.compile(r"^(?:#+ .*|\(.+\)=)$", re.MULTILINE)
"""The lines of a page that others show or lead to."""
EXECUTED = ("build/solutions", "build/notebooks")  # where `make test` leaves the chapters that it has run
NOTED = "fingerprints.json"
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"


def collect(pages: pathlib.Path, root: pathlib.Path = ROOT, cache: pathlib.Path | None = None) -> None:
    """Write everything that Jupyter Book reads: our pages, the chapters, the pictures, the configuration."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    config = configured(yaml.safe_load((HERE / "_config.yml").read_text()), project, cache)
    solutions = config["sphinx"]["config"]["shardlab_solutions"]
    shutil.copytree(HERE, pages, ignore=shutil.ignore_patterns("__pycache__", "*.py", "_*.yml"))
    shutil.copytree(HERE / "_ext", pages / "_ext", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    purposes = chapters.purposes(root)
    for name, text in chapters.pages(root, address_in(project), solutions).items():
        (pages / name).parent.mkdir(exist_ok=True)
        (pages / name).write_text(described(text, purposes.get(int(pathlib.Path(name).stem[:2]), "")))
    for path in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        shutil.copyfile(path, pages / "notebooks" / path.name)
    takeaway.write(pages / takeaway.NAME, root)
    expand(pages / "exercises.md", "exercises", exercises.tables(root, solutions))
    expand(pages / "intro.md", "landing", landing.figure())
    expand(pages / "intro.md", "asking", landing.asking())
    expand(pages / "intro.md", "cover", cover.framed())
    expand(pages / "intro.md", "ways", exercises.ways())
    for name in exercises.PLANS:
        expand(pages / "term.md", f"plan {name}", exercises.plan((HERE / "term.md").read_text(), name))
    expand(pages / "term.md", "minutes", exercises.rooms())
    expand(pages / "practices.md", "clinic", chapters.clinic())
    expand(pages / "architecture.md", "architecture", architecture.framed())
    for name in playgrounds.FORMS:
        expand(pages / "playground.md", f"play-{name}", playgrounds.form(name))
    if not playgrounds.bring(pages / "_static", root):
        print("The playgrounds have no Python in this copy of the book: make book brings it, by npm.")
    for page, made in (("status.md", status.parts(HERE)), ("golf.md", golfing.parts(HERE))):
        for name, text in made.items():
            expand(pages / page, name, text)
    (pages / "_static" / "mark.svg").write_text(cover.mark())
    (pages / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False))
    toc = contents(yaml.safe_load((HERE / "_toc.yml").read_text()), solutions)
    (pages / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False))


def address_in(project: Mapping[str, Any]) -> str:
    """The repository's address."""
    return str(next(iter(project["urls"].values()))).rstrip("/")


def configured(config: dict[str, Any], project: Mapping[str, Any], cache: pathlib.Path | None) -> dict[str, Any]:
    """`_config.yml` with what `pyproject.toml` says: author, release and the repository's address."""
    author = project["authors"][0]["name"]
    address = address_in(project)
    config |= {"author": author, "copyright": ""}
    options = config["sphinx"]["config"]
    options |= {"release": project["version"], "ogp_site_url": f"{address}/"}
    config["html"] |= {"extra_footer": made(project)}
    if address != header.UNSET:  # the theme takes no address but of the hosts that it knows
        config["repository"] = {"url": address, "branch": "main"}
        config["html"] |= {"use_repository_button": True, "use_issues_button": True}
    if address.startswith(header.GITHUB):  # where GitHub Pages puts the book, unless its owner has another place
        owner, name = address.removeprefix(header.GITHUB).split("/")
        options["ogp_site_url"] = f"https://{owner}.github.io/{name}/"
    if address != header.UNSET:  # whose pages have one address, which search engines are told
        options["html_baseurl"] = options["ogp_site_url"]
    if cache:
        config["execute"]["cache"] = str(cache)
    return config


def made(project: Mapping[str, Any]) -> str:
    """What every page says of itself: the version, the JAX that ran it, and the day, which `book_frame` fills in."""
    versions = f"Shardlab {project['version']}, run with JAX {importlib.metadata.version('jax')}"
    return f'<p class="made">{versions}, made on <time class="made">a day that is not known</time>.</p>'


def described(text: str, said: str) -> str:
    """A page with its description in the front matter, for search engines and for previews of links to it."""
    quoted = json.dumps(said)
    fields = f"og:description: {quoted}\nmyst: {{html_meta: {{description: {quoted}}}}}\n"
    return text.replace("---\n", f"---\n{fields}", 1) if said else text


def contents(toc: dict[str, Any], solutions: bool) -> dict[str, Any]:
    """`_toc.yml`, without its part of solutions when they are switched off."""
    kept = [part for part in toc["parts"] if solutions or {"glob": SOLUTIONS} not in part["chapters"]]
    return {**toc, "parts": kept}


def expand(page: pathlib.Path, name: str, text: str) -> None:
    """Put `text` where the page says `<!-- name -->`."""
    before, mark, after = page.read_text().partition(f"<!-- {name} -->\n")
    assert mark, f"{page} has no line <!-- {name} -->"
    page.write_text(before + text + after)


def reuse(cache: pathlib.Path, root: pathlib.Path = ROOT) -> list[str]:
    """Put the outputs of notebooks that the tests have run into the cache; the names of those that still hold."""
    used: list[str] = []
    with expected.opened(cache) as kept:
        for path in sorted(path for folder in EXECUTED for path in (root / folder).glob("[0-9]*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            ran = notebook.metadata.pop("shardlab", {})
            if ran.get("fingerprint") == executed.fingerprint(path.stem):
                for cell in notebook.cells:  # what the book's own page of it has, for the cache compares
                    cell.metadata.pop("execution", None)
                    if path.parent.name == "solutions":
                        cell.metadata.pop("nbgrader", None)
                chapters.fold(notebook)
                name = path.relative_to(root).as_posix()
                bundle = CacheBundleIn(notebook, name, data={"execution_seconds": ran["seconds"]})
                kept.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
                used.append(name)
    return used


def renew(cache: pathlib.Path) -> set[str]:
    """Forget the outputs of pages that depend on something which has changed since they were noted; their names."""
    noted = cache / NOTED
    before = json.loads(noted.read_text()) if noted.exists() else {}
    forgotten = set()
    with expected.opened(cache) as kept:
        for record in kept.list_cache_records():
            stem = pathlib.Path(record.uri).stem
            if before.get(stem) != executed.fingerprint(stem):
                kept.remove_cache(record.pk)
                forgotten.add(stem)
    return forgotten


def common(pages: pathlib.Path) -> str:
    """A digest of what shows on more pages than its own: headings, labels, words explained, style, and what renders them."""
    installed = sorted(f"{found.name} {found.version}" for found in importlib.metadata.distributions())
    parts = [sys.version, *installed]
    for path in sorted(path for path in pages.rglob("*") if path.is_file()):
        text = path.read_bytes()
        if path.suffix == ".md" and path.stem != "glossary":
            text = "\n".join(SEEN.findall(text.decode())).encode()
        if path.suffix not in APART:
            parts.append(f"{path.relative_to(pages)} {hashlib.sha256(text).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def bring(fresh: pathlib.Path, pages: pathlib.Path, forgotten: set[str]) -> list[str]:
    """Move what differs from `fresh` to `pages`, where all else keeps its time; the names of the pages to be rendered.

    Args:
        forgotten: names of pages that have to run again, though their text may be the same.
    """
    found = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in [path for path in pages.rglob("*") if path.is_file() and path.relative_to(pages) not in found]:
        path.unlink()
    differing = []
    for name in sorted(found):
        old, new = pages / name, fresh / name
        if old.exists() and old.read_bytes() == new.read_bytes() and name.stem not in forgotten:
            continue
        old.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new, old)
        differing += [name] if name.suffix == ".md" else []
        differing += [pathlib.Path("intro.md")] if name.name == takeaway.NAME else []  # which offers it
    # A chapter shows what its solutions do.
    pairs = {pathlib.Path(part, name.name) for name in differing if len(name.parts) > 1 for part in PAIR}
    shown = {*differing, *pairs, *(pathlib.Path(name) for name in OF_ALL if differing)}
    again = sorted(name.as_posix() for name in shown if (pages / name).exists())
    for name in again:
        (pages / name).touch()
    shutil.rmtree(fresh)
    return again


def note(cache: pathlib.Path) -> None:
    """Write down what the outputs in the cache depend on."""
    with expected.opened(cache) as kept:
        stems = {pathlib.Path(record.uri).stem for record in kept.list_cache_records()}
    (cache / NOTED).write_text(json.dumps({stem: executed.fingerprint(stem) for stem in sorted(stems)}, indent=1) + "\n")


def build(folder: pathlib.Path) -> int:
    """Build the book in `folder`, of what was rendered before only what has changed; the exit status of Jupyter Book."""
    folder = folder.resolve()
    cache, fresh = folder / CACHE, folder / FRESH
    forgotten = renew(cache)
    reuse(cache)
    shutil.rmtree(fresh, ignore_errors=True)
    collect(fresh, cache=cache)
    status = update(folder, forgotten)
    note(cache)
    return status


def update(folder: pathlib.Path, forgotten: set[str]) -> int:
    """Render what in `folder/fresh` is not as in `folder/pages`, or all; the exit status of Jupyter Book."""
    fresh, pages, noted = folder / FRESH, folder / "pages", folder / COMMON
    now, before = common(fresh), noted.read_text() if noted.exists() else ""
    noted.unlink(missing_ok=True)  # until all is well, for warnings are told of pages that are read alone
    if now != before:
        for name in ("_build", "pages"):
            shutil.rmtree(folder / name, ignore_errors=True)
    ahead = expected.plan(folder / CACHE, pages, bring(fresh, pages, forgotten))
    print(ahead.said(), flush=True)
    clock = expected.Clock()
    status = jupyter_book(folder)
    if not status:
        noted.write_text(now)
        expected.note(folder / CACHE, ahead, clock.seconds)
    print(clock.said())
    return status


def jupyter_book(folder: pathlib.Path) -> int:
    """Render the pages in `folder`; the exit status."""
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", ".", "--path-output", str(folder), "-W", "-n", "--keep-going"]
    # A python3 kernel of the user's own must not run the chapters, and outputs must not depend on the machine.
    environment = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1", "JAX_PLATFORMS": "cpu"}
    environment |= executed.compiled(folder / COMPILED, "")
    return subprocess.run(command, cwd=folder / "pages", env=environment).returncode


def main(arguments: list[str]) -> int:
    """Build and say where the first page lies; the exit status."""
    folder = pathlib.Path(*arguments) if arguments else ROOT / "build" / "book"
    status = build(folder)
    if status:
        print("The book is not built: the warnings above are errors here. Mend them in solutions/ or jupyter_book/.")
    else:
        print(f"The book: {folder / '_build' / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
