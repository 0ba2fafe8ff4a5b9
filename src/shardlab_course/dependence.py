"""What a verdict and a page depend on: the sources that their imports reach, and nothing else.

A verdict depends on its chapter's folder, the judge and what these import, which is the lens's readers above all; not on
pictures, not on other chapters, not on the answers that an exercise must tell apart, and not on texts that no verdict holds:
docstrings, hints, explanations.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import pathlib
from collections.abc import Iterable, Iterator

import shardlens
from shardlab_course import own

PACKAGES = ("shardlab", "shardlens", "jax", "jaxlib")
SEEN_BY_NO_VERDICT = frozenset({"hints", "explanation", "minutes", "difficulty"})
"""Arguments of a `Question` that are read beside a verdict and are not in it."""
RECORDER = ("shardlab.answers.record", "shardlab.answers.in_the_box", "shardlab_course.renaming")
OURS = ("shardlens", "shardlab", "shardlab_judge", "shardlab_course")


def handed_on(name: str) -> str:
    """The module that a name of `sl` or `sl.pictures` comes from; empty if there is no such name."""
    module = {**shardlens.public_names("shardlab.pictures"), **shardlens.public_names("shardlab")}.get(name, "")
    return shardlens.home(name) if module == "shardlens" else module


HOMES = {"shardlens": shardlens.home, "shardlab": handed_on}
"""By package with a table of public names what finds the module that one comes from."""


def judgement(questions: Iterable[str]) -> str:
    """Hash of everything that judges these questions: versions, and the sources that can change a verdict.

    Args:
        questions: ids, as `"4.2"`.
    """
    chapters = tuple(sorted({int(id.partition(".")[0]) for id in questions}))
    return _judgement(chapters, tuple(own.state(where) for n, where in own.folders().items() if n in chapters))


def versions() -> dict[str, str]:
    """Versions of the packages that a verdict depends on."""
    return {package: importlib.metadata.version(package) for package in PACKAGES}


def judging(chapter: int) -> dict[str, str]:
    """By module or file a hash of what can change a verdict in a chapter."""
    roots, folder, declared = [*RECORDER, "shardlab_judge.judging"], home(chapter), declaring(home(chapter))
    if chapter in own.folders():
        package = f"shardlab_course.ch{chapter:02}."
        code = [path for path in own.files(folder) if path.suffix == ".py"]
        modules = [module for path in code for module in _imported(ast.parse(path.read_bytes()))]
        roots += [module for module in modules if not module.startswith(package)]  # which are in the folder
    else:
        roots += declarations(chapter)
        declared = {name: digest for name, digest in declared.items() if name.endswith(".json")}
    return {module: _hash(_judging_text(path)) for module in sorted(reached(roots)) if (path := source(module))} | declared


def home(chapter: int) -> pathlib.Path:
    """The folder of a chapter's questions."""
    return own.folders().get(chapter) or _folder("shardlab_course") / f"ch{chapter:02}"


def declaring(folder: pathlib.Path) -> dict[str, str]:
    """By file of a chapter's folder a hash of what of it can change a verdict."""
    # A release measures references of its own, with its drawn cases.
    files = [path for path in own.files(folder) if path.name != "references.json"]
    return {
        path.relative_to(folder).as_posix(): _hash(_judging_text(path) if path.suffix == ".py" else path.read_bytes())
        for path in files
    }


def declarations(chapter: int) -> list[str]:
    """The modules that declare the questions of a chapter of the course."""
    folder = _folder("shardlab_course") / f"ch{chapter:02}"
    return [f"shardlab_course.{folder.name}.{where.name}.question" for where in own.exercises(folder).values()]


def reached(roots: Iterable[str]) -> frozenset[str]:
    """Modules of ours that these import, over others and inside functions too, and these themselves."""
    found: set[str] = set()
    waiting = [root for root in roots if source(root)]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imported(module) - found
    return frozenset(found)


@functools.cache
def imported(module: str) -> frozenset[str]:
    """Modules of ours that one imports, also inside functions; a package's table of names is no import."""
    path = source(module)
    return frozenset(_imported(ast.parse(path.read_bytes()))) if path and path.name != "__init__.py" else frozenset()


@functools.cache
def source(module: str) -> pathlib.Path | None:
    """A module's file, if it is one of ours."""
    package, _, rest = module.partition(".")
    if package not in OURS:
        return None
    base = _folder(package).joinpath(*rest.split(".")) if rest else _folder(package)
    found = [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]
    return found[0] if found else None


@functools.cache
def _judgement(chapters: tuple[int, ...], states: tuple[object, ...]) -> str:
    parts = [f"{package} {version}" for package, version in versions().items()]
    for chapter in chapters:
        parts += [f"{name} {digest}" for name, digest in judging(chapter).items()]
    return _hash("\n".join(parts).encode())


@functools.cache
def _folder(package: str) -> pathlib.Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return pathlib.Path(spec.submodule_search_locations[0])


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if source(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if source(name):  # the folder of an exercise is a package without a file of its own
                    yield name
                elif source(node.module):
                    yield HOMES[node.module](alias.name) or node.module if node.module in HOMES else node.module


def _judging_text(path: pathlib.Path) -> bytes:
    """A module's text without docstrings, and without what is said of a question beside its verdict."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in sorted(_unjudged(ast.parse(text)), key=lambda node: -node.lineno):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        text = text[:start] + text[end:]
    return text


def _unjudged(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                match node.body:
                    case [ast.Expr(value=ast.Constant(value=str()) as docstring), *_]:
                        yield docstring
            case ast.Call(func=ast.Name(id="Question")):
                yield from (keyword.value for keyword in node.keywords if keyword.arg in SEEN_BY_NO_VERDICT)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
