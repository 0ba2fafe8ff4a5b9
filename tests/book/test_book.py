"""The rendered book: what its pages are made from, and what they hold when Jupyter Book is done."""

import ast
import html
import html.parser
import platform
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jax
import pytest
import yaml

import shardlab
from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_course.clinic import cases, old
from shardlab_course.editions import header
from shardlab_course.outline import STARS
from shardlens import known_messages

from .conftest import CHAPTER

pytest.importorskip("pypdf", reason="the book's packages are not installed (extra: book)")
import pypdf  # noqa: E402
from jupyter_book.config import validate_yaml  # noqa: E402

ROOT = Path(__file__).parents[2]
HERE = ROOT / "jupyter_book"
sys.path.insert(0, str(HERE))

import chapters  # noqa: E402
import cover  # noqa: E402
import explained  # noqa: E402
import pdf  # noqa: E402
import render  # noqa: E402
import takeaway  # noqa: E402

sys.path.insert(0, str(HERE / "_ext"))
import book_formulas  # noqa: E402
import book_frame  # noqa: E402
import book_solved  # noqa: E402
import book_texts  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMES = [path.stem for path in sorted((ROOT / "notebooks" / "myst").glob("[0-9]*.md"))]
RUNNING = [path.stem for path in HERE.glob("*.md") if path.read_text().startswith("---\njupytext:")]
"""Our own pages with code."""
RAISED = ("LensError", "ShardlabError", "ShardingError", "Fault")
REFERENCE = re.compile(r"[a-z]+(-[a-z]+)+")
JUPYTER_BOOK_KEYS = {
    "title", "only_build_toc_files", "exclude_patterns", "execute", "parse", "html", "sphinx",
    "author", "copyright", "repository",
}  # fmt: skip


class Page(html.parser.HTMLParser):
    """What a page links to, what it can be linked at, and its pictures without words."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}
        self.fetched: set[str] = set()
        self.wordless: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in given:
            self.fetched.add(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.add(given["href"])
        if tag == "img" and not given.get("alt") and "logo__image" not in given.get("class", ""):
            self.wordless.append(given.get("src", ""))
        if tag == "svg" and not {"aria-label", "aria-hidden"} & set(given):
            self.wordless.append("svg")


def references(folder: Path) -> Iterator[str]:
    """The ids of mistakes in the code below `folder`: first arguments of errors and faults, and first of returned tuples."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            first: ast.expr | None = None
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RAISED and node.args:
                first = node.args[0]
            elif isinstance(node, ast.Return | ast.Yield) and isinstance(node.value, ast.Tuple) and node.value.elts:
                first = node.value.elts[0]
            if isinstance(first, ast.Constant) and REFERENCE.fullmatch(str(first.value)):
                yield first.value


@pytest.fixture(scope="module")
def read(book: Path) -> dict[Path, Page]:
    """Every rendered page that people read."""
    return {path: Page(path) for path in sorted(book.rglob("*.html")) if "_static" not in path.parts}


def test_errors_page_has_every_reference() -> None:
    """The errors page has one heading for each reference that our code raises, and no other."""
    headings = re.findall(r"^### (\S+)$", (HERE / "errors.md").read_text(), re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) == {name for home in ("lens/src", "src", "grader") for name in references(ROOT / home)}


def test_the_page_of_messages_is_new() -> None:
    """It is what the table and the kept texts make; each row has the heading that its explanation links to."""
    text = explained.PAGE.read_text()
    assert text == explained.text()
    assert re.findall(r"^### (\S+)$", text, re.MULTILINE) == [row.name for row in known_messages()]


def test_api_page_has_every_public_name() -> None:
    """The page of the helper package documents each name that `shardlab` and `sl.pictures` make public, once."""
    public = {*dir(shardlab)} - {"pictures", "__version__"}
    public |= {f"shardlab.pictures.{name}" for name in dir(shardlab.pictures) if name not in public}
    public |= {"shardlens.assert_communicates"}
    documented = re.findall(r"^\.\. auto\w+:: ([\w.]+)$", (HERE / "api.md").read_text(), re.MULTILINE)
    assert sorted(documented) == sorted(public)


def test_bibliography_covers_every_chapter() -> None:
    """Each chapter has its section of further reading."""
    headings = re.findall(r"^## Chapter (\d+):", (HERE / "bibliography.md").read_text(), re.MULTILINE)
    assert NAMES, "there are no chapters: make notebooks"
    assert {int(name[:2]) for name in NAMES} <= set(map(int, headings))
    assert sorted(map(int, headings)) == [int(number) for number in headings]


def test_what_the_field_calls_an_answer_has_its_source() -> None:
    """A pass names it with its authors and the year, as one entry of the bibliography has them."""
    named = [asked.known_as for asked in QUESTIONS.values() if asked.known_as]
    entries = re.split(r"^- ", (HERE / "bibliography.md").read_text(), flags=re.MULTILINE)
    sources = [source for known in named for inside in re.findall(r"\(([^)]+)\)", known) for source in inside.split("; ")]
    assert len(named) >= 20 and len(sources) >= len(named)
    words = [re.findall(r"[A-Z]\w+|jaxDecomp|\d{4}", source) for source in sources]
    assert all(words) and not [each for each in words if not any(all(word in entry for word in each) for entry in entries)]


def test_glossary_terms_are_unique_and_end_in_a_stop() -> None:
    """Each term is defined once, in sentences."""
    body = (HERE / "glossary.md").read_text().partition("```{glossary}\n")[2].partition("\n```")[0]
    entries = [entry.split("\n  ", 1) for entry in body.strip().split("\n\n")]
    assert len({term for term, _ in entries}) == len(entries)
    assert [term for term, said in entries if not said.rstrip().endswith((".", "notation."))] == []


@pytest.mark.parametrize("address", [header.UNSET, "https://github.com/owner/course"])
def test_configuration_names_no_address_and_only_known_keys(address: str) -> None:
    """Release, author and address come from pyproject.toml, and no key is misspelt: Jupyter Book would not notice."""
    ours = yaml.safe_load((HERE / "_config.yml").read_text())
    whole = render.configured(ours, PROJECT | {"urls": {"Repository": address}}, None)
    validate_yaml(whole, raise_on_errors=True)
    assert set(whole) == JUPYTER_BOOK_KEYS - ({"repository"} if address == header.UNSET else set())
    assert whole.get("repository", {}).get("url", header.UNSET) == address
    assert "github.com" not in (HERE / "_config.yml").read_text()


def test_solutions_are_one_line_away() -> None:
    """With the line in _config.yml switched off, neither the contents nor the pages have solutions."""
    toc = yaml.safe_load((HERE / "_toc.yml").read_text())
    assert "solutions/*" in str(render.contents(toc, solutions=True))
    assert "solutions" not in str(render.contents(toc, solutions=False)).lower()
    assert all(name.startswith("notebooks/") for name in chapters.pages(ROOT, "https://github.com/o/r", solutions=False))


def test_doors_lead_to_the_notebook() -> None:
    """A chapter opens in Colab and Kaggle, and is downloaded with what it needs; outside GitHub only that."""
    doors = chapters.doors("01_a", "https://github.com/o/r")
    notebook = "o/r/blob/main/notebooks/01_a.ipynb"
    assert f"(https://colab.research.google.com/github/{notebook})" in doors
    assert f"(https://www.kaggle.com/kernels/welcome?src=https://github.com/{notebook})" in doors
    assert "{download}`Notebooks and packages <../shardlab-notebooks.zip>`" in doors and "<01_a.ipynb>`" in doors
    assert "pip install ./*.whl jupyterlab" in doors and "(../playground.md#who-holds-which-slice)" in doors
    headings = {
        line.removeprefix("## ").lower().replace(",", "").replace(" ", "-")
        for line in (HERE / "playground.md").read_text().splitlines()
    }
    assert {*chapters.PLAYGROUNDS.values()} <= headings
    assert "http" not in chapters.doors("01_a", "https://git.example.org/o/r")


def test_plain_text_stays_as_it_is() -> None:
    """Code in a hint is neither emphasised, nor linked, nor given curly quotes."""
    assert chapters.plain("""P('x', None) * [a_b]""") == r"""P(\'x\', None) \* \[a\_b\]"""


def test_cover_draws_true_placements() -> None:
    """The cover has one square for each element of its three matrices, and says in words what it shows."""
    drawn = cover.svg()
    assert drawn.count("<rect") == sum(m.placement.shape[0] * m.placement.shape[1] for m in cover.MATRICES)
    assert f'aria-label="{cover.WORDS}"' in drawn


@pytest.mark.notebook
def test_every_page_is_there(read: dict[Path, Page], book: Path) -> None:
    """Every page of the contents was rendered, every chapter twice: open, and solved."""
    toc = yaml.safe_load((HERE / "_toc.yml").read_text())
    wanted = [entry["file"] for part in toc["parts"] for entry in part["chapters"] if "file" in entry]
    wanted += [f"{part}/{name}" for part in ("notebooks", "solutions") for name in NAMES]
    assert {book / f"{name}.html" for name in ["index", "intro", *wanted]} <= set(read)


@pytest.mark.notebook
def test_links_and_anchors_resolve(read: dict[Path, Page]) -> None:
    """Every link inside the book leads to a file that is there, and to an anchor that is there."""
    broken = []
    for path, page in read.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if parts.scheme or parts.netloc or "genindex" in parts.path:
                continue
            if not target.exists() or (target in read and unquote(parts.fragment) not in read[target].anchors):
                broken.append(f"{path.name}: {link}")
    assert broken == []


@pytest.mark.notebook
def test_nothing_comes_from_elsewhere(read: dict[Path, Page], book: Path) -> None:
    """Scripts, styles, pictures and fonts are files of the book."""
    fetched = {(path.name, address) for path, page in read.items() for address in page.fetched}
    assert {(name, a) for name, a in fetched if urlsplit(a).netloc} == set()
    foreign = re.compile(r"url\([\"']?(?:https?:)?//[^)]*")
    assert {(path.name, a) for path in book.rglob("*.css") for a in foreign.findall(path.read_text())} == set()


@pytest.mark.notebook
def test_pictures_have_words(read: dict[Path, Page]) -> None:
    """Every picture says what it shows, or that it is an ornament."""
    assert {path.name: page.wordless for path, page in read.items() if page.wordless} == {}


def test_a_notebook_names_the_keys() -> None:
    """In the words that a page of the book replaces."""
    assert chapters.KEYS in (ROOT / "notebooks" / "myst" / f"{NAMES[0]}.md").read_text()


@pytest.mark.notebook
def test_keys_are_named_where_something_runs(book: Path) -> None:
    """Pages say that here all has run."""
    for part in ("notebooks", "solutions"):
        page = (book / part / f"{NAMES[0]}.html").read_text()
        assert chapters.KEYS not in page and chapters.NO_KEYS in page


def test_open_exercises_say_so_quietly(book: Path) -> None:
    """In the chapters no cell says that an answer is open: a check shows what it says in the solutions, and says so."""
    assert [line for name in NAMES for line in loud(book, name)] == []


def test_the_exercises_of_a_chapter_say_so_quietly(pages: Path) -> None:
    """The same of one chapter, whose passes name collectives that its page does not."""
    name = Path(CHAPTER).name
    assert list(loud(pages, name)) == []
    assert "all-gather" in (pages / "solutions" / f"{name}.html").read_text()


def loud(book: Path, name: str) -> Iterator[str]:
    """What a chapter's page says of what is open, does not say of what is solved, or says of what comes next."""
    asked = [question for question in QUESTIONS if question.split(".")[0] == str(int(name[:2]))]
    opened, solved = ((book / part / f"{name}.html").read_text() for part in ("notebooks", "solutions"))
    said = (
        "Not attempted yet",
        "not written yet</",
        "is still open:",
        "Traceback",
        "Next in this chapter",
        "Next, in chapter",
    )
    yield from (word for word in said if word in opened)
    yield from (f"{name} lacks {q}" for page in (opened, solved) for q in asked if f"✓ {q} " not in page)
    if book_solved.SAID not in opened or "Traceback" in solved:
        yield name


@pytest.mark.notebook
def test_exercises_are_listed_with_their_facts(book: Path) -> None:
    """The list of exercises has each question with its minutes, and leads to its heading."""
    text = (book / "exercises.html").read_text()
    numbers = {int(name[:2]) for name in NAMES}
    for question in (q for number, asked in CHAPTERS.items() if number in numbers for q in asked):
        row = text.partition(f"#{chapters.label(question.id)}")[2].partition("</tr>")[0]
        assert f"<p>{question.minutes}</p>" in row
        assert f'title="{STARS[question.difficulty]} of 3"' in row


@pytest.mark.notebook
def test_status_names_every_run(book: Path) -> None:
    """The status page says of each page with code that it ran to its bottom, and on which Python and JAX."""
    text = (book / "status.html").read_text()
    assert f"All pages ran on Python {platform.python_version()}, JAX {jax.__version__}," in text
    assert text.count("<p>to its bottom</p>") == 2 * len(NAMES) + len(RUNNING)


@pytest.mark.notebook
def test_downloaded_notebook_is_the_students(book: Path) -> None:
    """The file behind the last door is the notebook of the repository."""
    for name in NAMES:
        (path,) = book.glob(f"_downloads/*/{name}.ipynb")
        assert path.read_bytes() == (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()
    (archive,) = book.glob(f"_downloads/*/{takeaway.NAME}")
    assert f'href="{archive.relative_to(book).as_posix()}"' in (book / "intro.html").read_text()
    with zipfile.ZipFile(archive) as held:
        assert {name.partition("/")[2] for name in held.namelist()} > {f"{name}.ipynb" for name in NAMES}


def test_pages_have_a_description_and_a_picture(book: Path) -> None:
    """For search engines and previews: what the README says of a chapter, and a picture that is there."""
    for name in ("intro", "playground", *(f"notebooks/{name}" for name in NAMES)):
        text = (book / f"{name}.html").read_text()
        tags = [dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall(r"<meta [^>]*>", text)]
        said = {tag.get("name") or tag.get("property"): tag.get("content", "") for tag in tags}
        assert said["og:site_name"] == "Shardlab" and len(said["description"]) > 60, name
        assert (book / said["og:image"].removeprefix(said["og:url"].removesuffix(f"{name}.html"))).is_file(), name
    purposes = chapters.purposes(ROOT)
    assert sorted(purposes) == [int(name[:2]) for name in NAMES]
    assert html.unescape(said["description"]) == html.unescape(said["og:description"]) == purposes[max(purposes)]


def test_the_first_page_has_a_title_and_a_preview(book: Path) -> None:
    """The address of the folder leads to it, with the title and the picture that somebody sees who gets the link."""
    text = (book / "index.html").read_text()
    assert f"<title>{book_frame.NAMED}</title>" in text and "og:image" in text and "url=intro.html" in text
    assert f"<title>{book_frame.NAMED}</title>" in (book / "intro.html").read_text()
    for name in ("intro", f"notebooks/{NAMES[1]}"):
        assert re.search(
            rf"Shardlab {PROJECT['version']}, run with JAX {jax.__version__}, made on <time class=\"made\">\d",
            (book / f"{name}.html").read_text(),
        )


def test_frame_and_sitemap() -> None:
    """The theme's hidden buttons and its tooltips go; a sitemap has whole addresses."""
    hidden = '<button class="pst-navbar-icon sidebar-toggle primary-toggle" aria-label="Site">\n<svg/></button>'
    tooltip = ' data-bs-placement="bottom" data-bs-toggle="tooltip"'
    seen = f'<button class="sidebar-toggle primary-toggle btn" title="Toggle primary sidebar"{tooltip}>'
    mended = '<button class="sidebar-toggle primary-toggle btn" title="Chapters" aria-label="Chapters">'
    assert (
        book_frame.framed(hidden + seen + '<time class="made">?</time>', "1 May 2026")
        == mended + '<time class="made">1 May 2026</time>'
    )
    assert "<loc>https://o.github.io/r/notebooks/01_a.html</loc>" in book_frame.sitemap(
        "https://o.github.io/r/", ["notebooks/01_a.html"]
    )


def test_texts_for_programs_hold_no_answers() -> None:
    """A page's Markdown has no front matter and no form; the list names each page."""
    chapter = chapters.pages(ROOT, header.UNSET, solutions=False)["notebooks/04_four_matmul_cases.md"]
    assert 'class="predict"' in chapter and '"right":' in chapter
    text = book_texts.plain(chapter)
    assert text.startswith("# 4.") and 'class="predict"' not in text and '"right":' not in text
    assert "- [Four cases](notebooks/04.md)" in book_texts.listed({"notebooks/04": "Four cases"})


FORMULAS = {
    r"A[I_x, J]": ("<msub><mi>I</mi><mi>x</mi></msub>",),
    r"\xrightarrow{\text{gather}}": ("<mtext>gather</mtext>", "<mover>"),
    r"\frac{a}{b} < 1": ("<mfrac>", 'alttext="\\frac{a}{b} &lt; 1"'),
}


@pytest.mark.parametrize("tex", FORMULAS)
def test_formulas_are_mathml(tex: str) -> None:
    """Elements that browsers draw, with the TeX for who copies them."""
    made = book_formulas.mathml(tex, display=False)
    assert all(part in made for part in FORMULAS[tex]) and "width=" not in made


def test_pages_are_printed_into_one_file(book: Path, tmp_path: Path) -> None:
    """With an outline by page title, and the text of each; the whole book in the order of its contents."""
    target = tmp_path / "some.pdf"
    names = ["intro", f"notebooks/{NAMES[2]}"]
    done = subprocess.run([sys.executable, HERE / "pdf.py", target, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    reader = pypdf.PdfReader(target)
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    assert titles[0].startswith("Shardlab") and titles[1].startswith("2. What communication costs"), titles
    text = "".join(page.extract_text() for page in reader.pages)
    assert "Right, and yet" in text and "What communication costs" in text and len(reader.pages) > 5
    order = [name for _, names in pdf.contents() for name in names]
    assert order[0] == "intro" and [n for n in order if n.startswith("notebooks/")] == [f"notebooks/{n}" for n in NAMES]
    assert not [name for name in order if not (book / f"{name}.html").is_file()]
    assert "playground" not in order and not [name for name in order if name.startswith("solutions/")]


def test_exercises_lead_to_the_clinic() -> None:
    """A chapter's page says of an exercise where its reader meets the same elsewhere."""
    for case in (*cases.CASES, *old.CASES):
        assert f"[{chapters.plain(case.row.means)}](../{case.page})" in chapters.met(case.exercise)
    assert chapters.met("0.2") == ""
