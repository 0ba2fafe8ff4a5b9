"""The public names of `shardlab`: imported late, listed twice (for type checkers and for Python), never hidden."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import shardlab as sl

SOURCE = Path(sl.__file__).read_text()


def typed_names() -> dict[str, str]:
    """What a type checker sees: name and module."""
    nodes = (node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.ImportFrom) and node.module != "typing")
    found = {a.name: node.module for node in nodes for a in node.names if (node.module or "").startswith("shardlab.")}
    return {name: str(module).removeprefix("shardlab.") for name, module in found.items()}


def test_both_lists_agree() -> None:
    """What type checkers see is what Python finds."""
    assert typed_names() == sl._HOMES


@pytest.mark.parametrize("name", sorted(sl._HOMES))
def test_name(name: str) -> None:
    """Each public name is a function or a class; an imported submodule of the same name can be called as well."""
    assert callable(getattr(sl, name))


def test_no_such_name() -> None:
    """A name that is not public is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="module 'shardlab' has no attribute 'nothing'"):
        sl.nothing  # noqa: B018


def test_import_is_light() -> None:
    """Importing shardlab imports neither JAX nor matplotlib; a submodule that comes first hides no function."""
    code = "import sys, shardlab; print(sorted({'jax', 'matplotlib', 'numpy'} & set(sys.modules)))\n"
    code += "import shardlab.expressions.sharding; print(callable(shardlab.expression))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["[]", "True"]
