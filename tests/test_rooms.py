"""The six rooms, in the order in which they build on one another: imports point one way, and never in a circle."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterator, Mapping

import pytest

import asked
from shardlab_course import own

ROOT = pathlib.Path(__file__).parents[1]
ROOMS = {
    "shardlens": ROOT / "lens" / "src",
    "shardlab": ROOT / "src",
    "shardlab_judge": ROOT / "src",
    "shardlab_course": ROOT / "src",
    "shardlab_grader": ROOT / "grader",
    "shardlab_authoring": ROOT / "grader",
    "shardlab_tools": ROOT / "grader",
}
CHAPTER = re.compile(r"shardlab_course\.ch(\d\d)")
LARGE, FULLEST = 250, 15
REASON = re.compile(r"^\| `([\w.]+)` \| \S.*\. \|$", re.MULTILINE)
REASONS = REASON.findall((ROOT / "jupyter_book" / "architecture.md").read_text().partition("## Long modules")[2])


def modules() -> dict[str, pathlib.Path]:
    """Every module by its dotted name; what exercises must tell apart is read, and never imported."""
    return {
        ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__"): path
        for room, home in ROOMS.items()
        for path in sorted((home / room).rglob("*.py"))
        if path.name != own.ANSWERS or path.parent.name[:2] != "ex"
    }


MODULES = modules()
ASKED = [name for name in MODULES if asked.everything() or (of := CHAPTER.match(name)) and asked.chapter(int(of[1]))]


@functools.cache
def tree(name: str) -> ast.Module:
    """A module's syntax."""
    return ast.parse(MODULES[name].read_text())


def imports(name: str, *, lazy: bool) -> Iterator[str]:
    """Modules of ours that a module imports; with `lazy` also those that it imports inside functions."""
    for node in ast.walk(tree(name)) if lazy else tree(name).body:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [full if (full := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names]
        else:
            continue
        yield from (module for module in found if module in MODULES and module != name)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle; none if there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        for other in sorted(graph.get(name, set()) - done):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in graph if (found := visit(name, []))), [])


@pytest.mark.parametrize("name", sorted(ASKED))
def test_imports_point_one_way(name: str) -> None:
    """A module imports nothing of a later room, not even inside a function."""
    order = list(ROOMS)
    own = order.index(name.split(".")[0])
    assert [module for module in imports(name, lazy=True) if order.index(module.split(".")[0]) > own] == []


@pytest.mark.parametrize("name", [name for name in ASKED if CHAPTER.match(name)])
def test_a_chapter_depends_on_itself(name: str) -> None:
    """A chapter's module imports nothing of another chapter, whose changes must not reach its verdicts."""
    own = CHAPTER.match(name)[1]
    assert [module for module in imports(name, lazy=True) if CHAPTER.match(module) and CHAPTER.match(module)[1] != own] == []


@pytest.mark.parametrize("name", [name for name in ASKED if CHAPTER.match(name)])
def test_a_chapters_module_says_what_it_is(name: str) -> None:
    """In one line that begins alike in all of them."""
    first, *others = ast.get_docstring(tree(name)).splitlines()
    assert re.match(rf"Chapter {int(CHAPTER.match(name)[1])}(, .+|'s .+): .+\.$", first) and not others


def test_no_circle() -> None:
    """No module is imported, over others, by what it imports, be it inside a function or for its types alone."""
    assert circle({name: set(imports(name, lazy=True)) for name in ASKED}) == []


@pytest.mark.parametrize("name", sorted(name for name in ASKED if not name.startswith("shardlens")))
def test_the_lens_is_entered_by_its_door(name: str) -> None:
    """The other rooms import public names from `shardlens` itself, and no module of it."""
    nodes = list(ast.walk(ast.parse(MODULES[name].read_text())))
    asked = [
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shardlens")
    ]
    asked += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in asked if module.startswith("shardlens.")] == []


@pytest.mark.parametrize("name", sorted(name for name in ASKED if name.startswith("shardlens")))
def test_the_lens_knows_nothing_of_the_course(name: str) -> None:
    """No word of it names a later room."""
    assert not any(room in MODULES[name].read_text() for room in ROOMS if room != "shardlens")


def test_a_circle_is_found() -> None:
    """The search sees a circle of any length, and none where there is none."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("name", sorted(ASKED))
def test_module_is_small(name: str) -> None:
    """A module can be read in one sitting, or the page of the architecture says why it is one; no reason is left over."""
    assert (len(MODULES[name].read_text().splitlines()) > LARGE) == (name in REASONS), "jupyter_book/architecture.md"


@pytest.mark.parametrize("folder", sorted({MODULES[name].parent for name in ASKED}), ids=lambda p: p.name)
def test_folder_is_not_crowded(folder: pathlib.Path) -> None:
    """A folder's modules can be told apart at a glance."""
    assert sum(path.name != "__init__.py" for path in folder.glob("*.py")) <= FULLEST
