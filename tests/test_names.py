"""The public names of `shardlab` and of the lens: imported late, each standing once, never hidden."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import shardlab as sl
import shardlens
from shardlab.answers import in_the_box

COURSE = sorted(name for name, module in sl._NAMES.items() if module.startswith("shardlab_course."))
LENS = sorted(name for name, module in sl._NAMES.items() if module == "shardlens")


@pytest.mark.parametrize("package", [sl, sl.pictures, shardlens], ids=lambda package: package.__name__)
def test_the_stub_is_the_table(package: ModuleType) -> None:
    """What type checkers see in `__init__.pyi`, each name once, is what Python finds; nothing else is imported there."""
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    seen = [alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert len(seen) == len(set(seen)) and set(seen) == {*dir(package)} - {"__version__"} | ({"pictures"} & set(seen))


@pytest.mark.parametrize("name", sorted({*dir(sl)} - {"pictures", "__version__"}))
def test_name(name: str) -> None:
    """Each public name is a function or a class; an imported submodule of the same name can be called as well."""
    assert callable(getattr(sl, name))


@pytest.mark.parametrize("name", LENS)
def test_the_lens_is_handed_on(name: str) -> None:
    """What the lens does is its own, under its own name."""
    assert getattr(sl, name) is getattr(shardlens, name)


MOVED = sorted({*dir(sl.pictures)} - {*dir(sl)})


@pytest.mark.parametrize("name", MOVED)
def test_moved_name(name: str) -> None:
    """A picture that is no longer in `sl` is named where it is now, and is there."""
    with pytest.raises(AttributeError, match=rf"sl\.{name} has moved: write sl\.pictures\.{name}\."):
        getattr(sl, name)
    assert callable(getattr(sl.pictures, name))


def test_names_in_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a class is graded the course is not asked: nothing raises, predictions are kept, and old names still draw."""
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    monkeypatch.setattr(in_the_box, "GIVEN", {})
    sl.predict("4.4", deep="all-reduce", wide=...)
    sl.predict(4.4, wide="all-gather")
    assert in_the_box.GIVEN == {"4.4": {"deep": "all-reduce", "wide": "all-gather"}}
    assert str(sl.check("4.2", 1)) == "4.2: recorded." and str(sl.show_front("15.6")).startswith("15.6: ")
    assert all("are for you" in str(said) for said in (sl.hint(), sl.hint(4.2, 1), sl.explain(4), sl.example(), sl.viva()))
    assert sl.progress(4).earned == 0 and sl.target("1.1", "A").shape == (1,)
    assert {name: getattr(sl, name) for name in MOVED} == {name: getattr(sl.pictures, name) for name in MOVED}
    assert {sl.__getattr__(name).__module__ for name in COURSE} == {in_the_box.__name__}


def test_no_such_name() -> None:
    """A name that is not public is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="module 'shardlab' has no attribute 'nothing'"):
        sl.nothing  # noqa: B018


@pytest.mark.thorough
def test_import_is_light() -> None:
    """Importing shardlab imports neither JAX nor matplotlib; a submodule that comes first hides no function."""
    code = "import sys, shardlab; print(sorted({'jax', 'matplotlib', 'numpy'} & set(sys.modules)))\n"
    code += "import shardlab.expressions.sharding; print(callable(shardlab.expression))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["[]", "True"]
