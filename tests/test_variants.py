"""What an exercise's answers run as: the solution in a chapter's text, and variants of it; which names those leave alone."""

from __future__ import annotations

import ast
import pathlib

import pytest

from reach import untouched
from shardlab.answers import in_the_box
from shardlab.errors import ShardlabError
from shardlab_course import answers
from shardlab_course.answers import Sample
from shardlab_course.solved import solution

TEXT = """\
# 0. A chapter

<!-- first cell -->

```{code-cell} ipython3
import math

%pip install nothing
step = 0
unused = math.inf
```

```{code-cell} ipython3
:tags: [show]
step = 1
sl.show(step)
```

<!-- exercise 0.1 -->

```{code-cell} ipython3
def given(n):
    return n + step
```

```{code-cell} ipython3
def helper(n):
    ### BEGIN SOLUTION
    return given(n)
    ### END SOLUTION


def answer(n):
    ### BEGIN SOLUTION
    return helper(n)
    ### END SOLUTION


### BEGIN SOLUTION
sl.predict("0.1", sum=1, kind="a")
### END SOLUTION
```

```{code-cell} ipython3
sl.check("0.1", answer)
```

<!-- exercise 0.2 -->

```{code-cell} ipython3
### BEGIN SOLUTION
other = helper
### END SOLUTION
```
"""
FILE = '''\
"""What goes wrong."""

import math

from shardlab_course.answers import right, told, wrong


def twice(n):
    return 2 * n


@right
def as_it_is():
    """Nothing differs."""


@wrong("adds-two", 1.5)
def adds_two():
    def given(n):
        return n + 2


@right
def another_way():
    def answer(n):
        return base(n)

    def base(n):
        return n + 1


@wrong("adds-three", 0, of="another_way")
def adds_three():
    def base(n):
        return n + 3


@told("more")
def doubles():
    def given(n):
        return twice(n)


@wrong("-", alone=True)
def leaves_out():
    del answer
    sl.predict("0.1", sum=...)
'''

REFERENCE = """
import jax
P = jax.P
def base(n): return n
def near(n): return base(n)
def far(n): return P(n)
sizes = {"a": 1}
def sized(n): return sizes["a"] * n
"""
NAMES = {"base", "near", "far", "sizes", "sized"}


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A chapter's text, and the answers to its exercise 0.1."""
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    monkeypatch.setattr(in_the_box, "GIVEN", {})
    (tmp_path / "00_text.md").write_text(TEXT)
    (tmp_path / "answers.py").write_text(FILE)
    return tmp_path


def read(folder: pathlib.Path) -> dict[str, Sample]:
    """The answers by name."""
    return {s.name: s for s in answers.read(folder / "answers.py", folder / "00_text.md", "0.1")}


def test_what_a_file_says(folder: pathlib.Path) -> None:
    """The solution comes first; a variant's decorator is what it is due."""
    assert [(s.question, s.name, s.misconception, s.due.points, s.due.alone) for s in read(folder).values()] == [
        ("0.1", "reference", None, None, False),
        ("0.1", "as_it_is", None, None, False),
        ("0.1", "adds_two", "adds-two", 1.5, False),
        ("0.1", "another_way", None, None, False),
        ("0.1", "adds_three", "adds-three", 0, False),
        ("0.1", "doubles", "more", None, False),
        ("0.1", "leaves_out", "-", None, True),
    ]


def test_the_solution_is_what_it_needs_and_no_more(folder: pathlib.Path) -> None:
    """Of the cells before it those statements that it leads to, the last of two; nothing that belongs to another."""
    found = solution(folder / "00_text.md", "0.1")
    assert [ast.unparse(s).splitlines()[0] for s in found.given] == ["import shardlab as sl", "step = 1", "def given(n):"]
    assert [ast.unparse(s).splitlines()[0] for s in found.own] == [
        "def helper(n):",
        "def answer(n):",
        "sl.predict('0.1', sum=1, kind='a')",
    ]


def test_a_variant_runs_among_the_names_of_the_solution(folder: pathlib.Path) -> None:
    """The solution's functions see what the variant binds, and each variant has a solution of its own, or another answer."""
    found = read(folder)
    said = {name: s.variables()["answer"](1) for name, s in found.items() if name != "leaves_out"}
    assert said == {"reference": 2, "as_it_is": 2, "adds_two": 3, "another_way": 2, "adds_three": 4, "doubles": 2}
    assert "answer" not in found["leaves_out"].variables()
    assert "shardlab_course" not in found["adds_two"].source() and found["adds_two"].source().count("def given") == 2


def test_predictions_are_the_variants_own(folder: pathlib.Path) -> None:
    """One that predicts makes none of the solution's predictions, and `...` is none."""
    for name, predicted in (("as_it_is", {"sum": 1, "kind": "a"}), ("leaves_out", {})):
        in_the_box.GIVEN.clear()
        read(folder)[name].variables()
        assert in_the_box.GIVEN["0.1"] == predicted


@pytest.mark.parametrize(
    ("name", "function", "file"), [("adds_two", "given", "answers.py"), ("as_it_is", "given", "00_text.md")]
)
def test_an_error_shows_the_line(folder: pathlib.Path, name: str, function: str, file: str) -> None:
    """A function lies where it is written: in the answers, or in the chapter's text."""
    code = read(folder)[name].variables()[function].__code__
    line = (folder / file).read_text().splitlines()[code.co_firstlineno - 1]
    assert (code.co_filename, line.strip()) == (str(folder / file), f"def {function}(n):")


MISTAKES = {
    "a name twice": ("def adds_two", "def as_it_is", "two answers are named as_it_is"),
    "no such answer": ('of="another_way"', 'of="nothing"', "there is no answer nothing to change"),
    "the solution's name": ("def twice", "def helper", "the solution has helper; what changes it is a variant"),
}


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(folder: pathlib.Path, old: str, new: str, said: str) -> None:
    """Tests are named by an answer's name, and what runs is what the file seems to say."""
    (folder / "answers.py").write_text(FILE.replace(old, new))
    with pytest.raises(ValueError, match=said):
        read(folder)


def test_an_exercise_has_a_solution(folder: pathlib.Path) -> None:
    """Or it is told which lines are missing."""
    with pytest.raises(ShardlabError, match=r"\[no-solution\] there is no solution of exercise 0\.3"):
        solution(folder / "00_text.md", "0.3")


@pytest.mark.parametrize(
    "body, left",
    [
        pytest.param("def far(n): return n", NAMES - {"far"}, id="bound"),
        pytest.param("def base(n): return 2 * n", {"far", "sizes", "sized"}, id="used"),
        pytest.param("P = None", NAMES - {"far"}, id="alias"),
        pytest.param("import jax", NAMES - {"far"}, id="imported again"),
        pytest.param("sizes['a'] = 2", {"base", "near", "far"}, id="entry"),
        pytest.param("del sizes['a']", {"base", "near", "far"}, id="entry taken away"),
        pytest.param("more = dict(sizes)", {"base", "near", "far"}, id="beside a call"),
        pytest.param("more = jax.jit(near)", {"far", "sizes", "sized"}, id="called"),
        pytest.param("if True:\n    def base(n): return 2", {"far", "sizes", "sized"}, id="bound in a block"),
        pytest.param("def more(n): return sizes.pop(n)", NAMES, id="not run"),
        pytest.param("def more(n=sizes.pop('a')): return n", {"base", "near", "far"}, id="run in a default"),
        pytest.param("def more():\n    global base\n    base = 1", set(), id="global"),
        pytest.param("globals()['base'] = 1", set(), id="by its text"),
        pytest.param("jax.config.update('jax_enable_x64', True)", set(), id="setting"),
        pytest.param("jax.P = None", set(), id="attribute"),
        pytest.param("from math import *", set(), id="star"),
    ],
)
def test_what_a_variant_leaves_as_it_is(body: str, left: set[str]) -> None:
    """Only names which nothing in the body binds or may change, nor anything that they use."""
    assert untouched(ast.parse(REFERENCE).body, ast.parse(body).body, NAMES) == left
