"""What is rendered again: a page that has changed, and what shows it; all pages where something of all has changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from shardlab_course.editions import edition, header
from shardlab_grader.releases import wheels

pytest.importorskip("jupyter_cache", reason="the book's packages are not installed (extra: book)")

ROOT = Path(__file__).parents[2]
HERE = ROOT / "jupyter_book"
sys.path.insert(0, str(HERE))

import expected  # noqa: E402
import render  # noqa: E402
import takeaway  # noqa: E402

CELL = edition.HEADER
PAGES = {
    "intro.md": "# Intro\n\nRead [on](notebooks/00_a.md).\n",
    "status.md": "# Status\n\n```{chapter-runs}\n```\n",
    "errors.md": "# Errors\n\n## no-mesh\n\nThere is none.\n",
    "notebooks/00_a.md": f'{CELL}# A\n\n```{{code-cell}} ipython3\nprint("[no-mesh]", "Not attempted yet")\n```\n',
    "notebooks/01_b.md": f'{CELL}# B\n\n```{{code-cell}} ipython3\nprint("[no-mesh] there is no mesh")\n```\n',
    "solutions/00_a.md": f"{CELL}# Solutions A\n\n```{{code-cell}} ipython3\nprint(2)\n```\n",
}


def collect(folder: Path, **changed: str) -> None:
    """A book of a few pages, as `render.collect` leaves it."""
    fresh = folder / render.FRESH
    for name in ("_ext", "_static"):
        shutil.copytree(HERE / name, fresh / name, ignore=shutil.ignore_patterns("__pycache__"))
    (fresh / "_static" / "mark.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    for name, text in {**PAGES, **changed}.items():
        (fresh / name).parent.mkdir(exist_ok=True)
        (fresh / name).write_text(text)
    project = {"authors": [{"name": "us"}], "urls": {"Repository": header.UNSET}, "version": "1"}
    config = render.configured(yaml.safe_load((HERE / "_config.yml").read_text()), project, folder / "cache")
    (fresh / "_config.yml").write_text(yaml.safe_dump(config))
    toc = {"format": "jb-book", "root": "intro", "chapters": [{"file": name} for name in PAGES if name != "intro.md"]}
    (fresh / "_toc.yml").write_text(yaml.safe_dump(toc))


@pytest.mark.notebook
@pytest.mark.thorough
def test_a_changed_page_is_rendered_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And with it the chapter's other half, the table of runs and the page of errors; a new heading renders all."""
    read, ahead = [], []
    texts = (
        {},
        {},
        {"notebooks/00_a.md": PAGES["notebooks/00_a.md"] + "\nMore.\n"},
        {"notebooks/00_a.md": PAGES["notebooks/00_a.md"] + "\n## More\n"},
    )
    for changed in texts:
        collect(tmp_path, **changed)
        assert render.update(tmp_path, set()) == 0, capfd.readouterr()
        said = capfd.readouterr().out
        read.append(tuple(map(int, re.findall(r"(\d+) added.*, (\d+) changed.*, (\d+) removed", said)[0])))
        assert f"Rendering {sum(read[-1])} of {len(PAGES)} pages" in said, said
        assert re.search(r"That took \d+ s, and \d+ s of CPU\.", said), said
        ahead.append(said.partition("pages, ")[2].partition("\n")[0])
    assert read == [(6, 0, 0), (0, 0, 0), (0, 4, 0), (6, 0, 0)]
    assert ahead[0].startswith(
        "3 of which run first. How long that takes is not known: notebooks/00_a.md and 2 more did not"
    )
    assert all(re.fullmatch(r"0 of which run first\. That takes about \d+ s, .*", said) for said in ahead[1:]), ahead
    pages = {name: (tmp_path / "_build" / "html" / f"{name}.html").read_text() for name in ("errors", "notebooks/01_b")}
    assert 'href="../errors.html#no-mesh"' in pages["notebooks/01_b"]
    assert 'Printed in: <a class="reference internal" href="notebooks/00_a.html"' in pages["errors"]


def test_what_has_to_run_again_is_read_again(tmp_path: Path) -> None:
    """Its text is the same, its outputs are forgotten."""
    for _ in range(2):
        collect(tmp_path)
        again = render.bring(tmp_path / render.FRESH, tmp_path / "pages", {"01_b"})
    assert again == ["errors.md", "notebooks/01_b.md", "status.md"]


def test_what_is_gone_is_gone(tmp_path: Path) -> None:
    """A page that is collected no more is no page."""
    collect(tmp_path, **{"notebooks/02_c.md": "# C\n"})
    render.bring(tmp_path / render.FRESH, tmp_path / "pages", set())
    collect(tmp_path)
    assert render.bring(tmp_path / render.FRESH, tmp_path / "pages", set()) == []
    assert not (tmp_path / "pages" / "notebooks" / "02_c.md").exists()


@pytest.mark.parametrize(
    "name, text, all_pages",
    [
        ("intro.md", "# Intro\n\nOther words.\n", False),
        ("intro.md", "# Another title\n", True),
        ("glossary.md", "Other words.\n", True),
        ("_static/course.css", "p {}\n", True),
        ("_ext/book_terms.py", "pass\n", True),
        ("notebooks/00_a.ipynb", "{}", False),
        ("bench.json", "[]", False),
        ("_static/shardlab.zip", "another package", False),
    ],
)
def test_what_shows_on_all_pages(tmp_path: Path, name: str, text: str, all_pages: bool) -> None:
    """A title stands in every page's contents; words of a page do not."""
    collect(tmp_path)
    before = render.common(tmp_path / render.FRESH)
    (tmp_path / render.FRESH / name).write_text(text)
    assert (render.common(tmp_path / render.FRESH) != before) == all_pages


def test_what_a_build_takes_is_what_it_took(tmp_path: Path) -> None:
    """Seconds of the pages that run, and of rendering each; what never ran has none."""
    noted = {"ran": {"a.md": 20.0, "b.md": 5.0}, "page": 2.0}
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / expected.TIMES).write_text(json.dumps(noted))
    (tmp_path / "pages").mkdir()
    for name in ("a", "b", "c", "d"):
        (tmp_path / "pages" / f"{name}.md").write_text(f"{CELL}# Page\n" + "\n```{code-cell}\n1\n```\n" * (name in "abc"))
    ahead = {
        names: expected.plan(tmp_path / "cache", tmp_path / "pages", [f"{n}.md" for n in names])
        for names in ("abd", "d", "ac")
    }
    assert ahead["abd"].said().endswith("2 of which run first. That takes about 31 s, going by the last time.")
    assert ahead["d"].said().endswith("0 of which run first. That takes about 2 s, going by the last time.")
    assert ahead["ac"].said().endswith("is not known: c.md did not run on this machine yet.")
    expected.note(tmp_path / "cache", ahead["abd"], 34.0)
    assert json.loads((tmp_path / "cache" / expected.TIMES).read_text())["page"] == 3.0


def test_all_notebooks_in_one_archive(tmp_path: Path) -> None:
    """With the packages of a release, which hold no grader, and from which Python imports; made twice it is the same."""
    for name in ("one.zip", "two.zip"):
        takeaway.write(tmp_path / name, ROOT)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "shardlab"
    notebooks = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert [path.read_bytes() for path in sorted(folder.glob("*.ipynb"))] == [path.read_bytes() for path in notebooks]
    wheel, lens = sorted(folder.glob("*.whl"))
    assert {path.name: path.read_bytes() for path in (wheel, lens)} == dict(map(wheels.wheel, wheels.PACKAGES))
    assert "shardlab_grader" not in {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    asked = "import shardlab, shardlab_course, sys; print(shardlab.__file__); print(shardlab.chip('v5e').name)"
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (wheel, lens)))}
    said = subprocess.run([sys.executable, "-c", asked], env=given, cwd=folder, capture_output=True, text=True)
    assert said.stdout.split() == [str(wheel / "shardlab" / "__init__.py"), "v5e"], said.stderr
    assert (folder / "BEGIN.txt").read_text().count("00_first_light.ipynb") == 2 and "00_first_light.ipynb" in os.listdir(
        folder
    )
