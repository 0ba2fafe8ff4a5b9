"""The clinic: each case knows the message of its own program and no other; what is old says today what the page says."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import jax
import pytest

import shardlab as sl
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking.work import begin
from shardlab_course.clinic import cases, old
from shardlab_course.clinic.case import Case, Old
from shardlab_course.clinic.running import written
from shardlab_course.clinic.trained import TRAINED
from shardlens import known_messages

BOOK = Path(__file__).parents[1] / "jupyter_book"
CASES = (*cases.CASES, *old.CASES)
BOUND = "\nnp.testing.assert_allclose(np.asarray(out), {value}, rtol=1e-6)\nprint('equal')"
UNKNOWN = """\
ZeroDivisionError: division by zero
ImportError: cannot import name 'make_mesh' from 'numpy'
TypeError: shard_map() got an unexpected keyword argument 'meshes'
ValueError: the ring has no end
ValueError: math domain error
OSError: [Errno 28] No space left on device
FileNotFoundError: [Errno 2] No such file or directory: 'train.py'
UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte
PermissionError: [Errno 13] Permission denied: '/data'
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
SyntaxError: invalid syntax
IndentationError: unexpected indent
StopIteration
AssertionError: Not equal to tolerance rtol=1e-05 Mismatched elements: 4 / 4 (100%) Max relative difference: 0.3141
AssertionError: Mismatched elements: 1 / 8 (12.5%) Max relative difference among violations: 7.
NamedSharding(mesh=Mesh('data': 4, 'model': 2, axis_types=(Auto, Auto)), spec=P('data',), memory_kind=device)
my program is slow""".splitlines()

PLAIN = """\
assigned boolean-index branches-change-type called-no-function carry-changes-type counted-too-far function-returned
kept-from-elsewhere left list-as-a-key nan-found needs-a-value no-such-key no-whole-index not-an-array not-defined
not-jax-returned not-written-yet nothing-returned nothing-there numpy-inside of-another-type out-of-bounds-axis python-branch
rule-missing scan-of-two-lengths too-many-indices traced-index traced-slice trees-differ unpacked-otherwise without-end"""


@functools.cache
def ran(program: str) -> str:
    """What a program writes; each runs once."""
    return written(program)


def names(message: str | BaseException) -> list[str]:
    return list(sl.diagnose(message).names)


def spaced(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_a_case_knows_its_own_message(case: Case) -> None:
    """Its program, run, writes what it is known by, and what no other case is known by."""
    assert names(ran(case.program)) == [case.name]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("row", old.ROWS, ids=lambda row: row.api)
def test_old_and_new(row: Old) -> None:
    """The old program writes what its row says; where it still ends, and in the new one, the values are NumPy's."""
    bound = BOUND.format(value=row.value)
    said, new = ran(row.old + bound), ran(row.new + bound)
    says = row.says if jax.__version_info__ < (0, 12) else row.newer or row.says
    assert says in spaced(said) and ("Error:" in said or said.endswith("equal\n"))
    assert new == "equal\n"
    found = names(row.old + said)
    assert names(row.old) in ([], [row.case]) and names(row.new) == []
    # JAX's words have a row of their own, which stands beside the one of the program's line, or alone.
    assert found and {*found} <= {row.case, "no-such-name", "old-shard-map"}


@pytest.mark.parametrize("message", UNKNOWN)
def test_not_known_here(message: str) -> None:
    """What no case has is not forced on one, and the answer says where to ask."""
    assert names(message) == []
    first, ask, _, page, _ = repr(sl.diagnose(message)).splitlines()
    assert first == f"not known here: none of {len(known_messages())} messages has these words."
    assert "https://github.com/jax-ml/jax/discussions" in ask and "book's page errors" in page


def test_a_message_of_ours() -> None:
    """Shardlab's own message leads to its entry among the errors."""
    with pytest.raises(sl.ShardlabError) as raised:
        sl.hint("99.1")
    assert repr(sl.diagnose(raised.value)).splitlines() == [
        "not known here: this message is Shardlab's own, and says itself how to mend it.",
        "  page:      the book's page errors, heading unknown-question",
    ]


def test_pages_open_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a student's folder the pages lie beside the notebooks, and every link of the clinic leads to a heading there."""
    begin(BOOK.parent / "notebooks", tmp_path)
    monkeypatch.chdir(tmp_path)
    pages = {path.name for path in tmp_path.glob("*.md")}
    assert {case.page.partition("#")[0] for case in CASES} | {"errors.md", "messages.md"} == pages
    ours = "[too-few-devices] JAX has 1. where: here mend: set up"
    assert "  page:      errors.md#too-few-devices" in repr(sl.diagnose(ours))


def test_an_exception_and_colours() -> None:
    """The exception itself is as good as its text; colours and line breaks of a terminal do not matter."""
    with pytest.raises(NameError) as raised:
        jax.lax.psum(1.0, "rows")
    assert names(raised.value) == ["unbound-axis"]
    assert names("\x1b[31mFound an unbound\n   axis\x1b[0m name: rows") == ["unbound-axis"]


def test_two_cases_in_one_text() -> None:
    """A page of old code has more than one; each is shown with its own words."""
    both = sl.diagnose("f = pmap(g)\nwith mesh:\n    f(x)")
    assert both.names == ("pmap", "with-mesh") and [each.said for each in both.found] == ["pmap(", "with mesh:"]
    assert repr(both).count("  mend:") == 2


def test_a_replicated_drawing() -> None:
    """What JAX draws of an array that is whole on every device is known; of one that is cut, or on one device, not."""
    box = "┌─────────┐\n│         │\n│{}│\n│         │\n└─────────┘"
    assert names(box.format(" CPU 0,1 ")) == ["silent-replication"]
    assert names(box.format("  CPU 0  ")) == names("┌───┬───┐\n│TPU 0,1│TPU 2,3│\n└───┴───┘") == []


def test_cases_are_whole() -> None:
    """Names are told apart, exercises exist, and the heading that a case leads to is on its page."""
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.exercise for case in CASES} <= set(QUESTIONS)
    assert {row.case for row in old.ROWS} == {case.name for case in old.CASES}
    for case in CASES:
        name, _, anchor = case.page.partition("#")
        text = (BOOK / name).read_text()
        slugs = {
            re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"(?m)^##+ (.+)$", text)
        }
        assert anchor in slugs, case.page


def test_rows_are_trained() -> None:
    """Every row of the lens's table leads to an exercise, but for those of Python and of tracing."""
    rows = {row.name for row in known_messages()}
    assert set(TRAINED) <= rows and set(TRAINED.values()) <= set(QUESTIONS)
    assert rows - set(TRAINED) == set(PLAIN.split())


def test_our_errors_lead_there() -> None:
    """Entries of our own errors lead to JAX's words for the same."""
    assert len(re.findall(r"\]\((practices|old_to_new)\.md", (BOOK / "errors.md").read_text())) >= 10


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_asked_in_words(case: Case) -> None:
    """Whoever has no message and says how it is gets this case, and this alone; a thread is named where it is met."""
    assert case.asked and all(names(f"Why is that? {asked.upper()}, again") == [case.name] for asked in case.asked)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+/(issues|pull)/\d+", case.thread)
    assert f"thread:    https://github.com/{case.thread}" in repr(sl.diagnose(case.asked[0]))


def test_the_page_says_what_is_measured() -> None:
    """Each row of the page has the old name, JAX's words, and what to write; and the page has no row that is not run."""
    text = (BOOK / "old_to_new.md").read_text()
    assert re.findall(r"(?m)^### (.+)$", text) == []
    for row in old.ROWS:
        place = text[text.index(f"**{row.api}**") :].partition("\n**")[0]
        assert f"| {row.api} | " in text and (row.says.replace("`", "") in text)
        assert row.old in place and row.new in place
        assert (row.says or "JAX says nothing") in spaced(place) and row.newer in spaced(place)
    assert len(re.findall(r"(?m)^\*\*.+\*\*$", text)) == len(old.ROWS)
