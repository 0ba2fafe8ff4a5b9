"""The names that JAX gives operations: several of them joined, and the modules and scopes in them. No JAX here."""

from __future__ import annotations

import re

_MADE_BY_JAX = "jit|pjit|vmap|checkpoint|remat\\d?|rematted_computation|shard_map|custom_[jv]vp_call"
_WRAPPED = re.compile(rf"^(?:{_MADE_BY_JAX}|jvp|transpose)\((.*)\)$")
_PLUMBING = re.compile(rf"^(?:{_MADE_BY_JAX}|while|body|cond|closed_call|core_call|branch_\d+_fun|scan)$")
_NUMBER = re.compile(r"(?<![a-zA-Z\d])\d+\b|(?<=[a-zA-Z]{4})\d+\b|\[\d+\]")


def operations(name: str) -> list[str]:
    """The operations that a collective serves: XLA joins the names of combined ones, `jit(f)/(psum:transpose(jvp())/dot)`.

    Example:
        >>> operations("jit(f)/(psum:transpose(jvp())/dot)"), operations("jit(f)/jvp()/dot")
        (['jit(f)/psum', 'jit(f)/transpose(jvp())/dot'], ['jit(f)/jvp()/dot'])
    """
    joined = re.fullmatch(r"(.*/)?\((.*:.*)\)", name)
    if not joined:
        return [name]
    parts, depth = [""], 0
    for character in joined[2]:
        depth += (character == "(") - (character == ")")
        parts = [*parts, ""] if character == ":" and depth == 0 else [*parts[:-1], parts[-1] + character]
    return [(joined[1] or "") + part for part in parts]


def scope(op_name: str) -> str:
    """The modules and scopes of an operation, numbers of layers as `*`; forward or backward where it is differentiated.

    Example:
        >>> scope("jit(step)/transpose(jvp(Model))/layers_3/mlp/down/dot_general")
        'backward Model/layers_*/mlp/down'
        >>> scope("jit(step)/add")
        '-'
    """
    names: list[str] = []
    pass_ = "backward" if "transpose(" in op_name else "forward" if "jvp(" in op_name else ""
    for part in op_name.split("/")[:-1]:
        # The name of a jitted function is no module's.
        part = "" if part.startswith(("jit(", "pjit(")) else part
        while wrapped := _WRAPPED.match(part):
            part = wrapped[1]
        if part and not _PLUMBING.match(part):
            names.append(without_numbers(part))
    return " ".join(filter(None, (pass_, "/".join(names)))) or "-"


def without_numbers(name: str) -> str:
    """A name with `*` for each number in it, which is equal for all layers of a model. Short names keep theirs, as `w1`.

    Example:
        >>> without_numbers("layers/3/mlp_0"), without_numbers("layer12/w1")
        ('layers/*/mlp_*', 'layer*/w1')
    """
    return _NUMBER.sub("*", name)
