"""Where shardings came from: Shardy's own passes say it, axis by axis, before XLA partitions the program."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shardlens.compilers.callables import FRAME
from shardlens.sources import Line, users_line

Dims = tuple[tuple[str, ...], ...]
"""Mesh axes of each dimension."""
UNKNOWN = "origin not known"
BATCHED = "under vmap"
PIPELINE = "sdy-propagation-pipeline"

_DIMS = re.compile(r"\[((?:\{[^}]*\}(?:, )?)*)\]")
_NAME = re.compile(r'loc\("([^"]*)"(?!:)')
_CONSTRAINTS = {"sharding_constraint": "with_sharding_constraint", "reshard": "jax.reshard"}
_VIEWS = frozenset(f"stablehlo.{name}" for name in ("convert", "dynamic_slice", "reshape", "slice", "transpose"))
_PASSED = ("func.call", "stablehlo.while", "stablehlo.optimization_barrier")
_IN_FULL = ("stablehlo.while", "stablehlo.case", "stablehlo.if")
_LOOPS = (*_IN_FULL, "sdy.manual_computation")
_WRITTEN = re.compile(
    r"stablehlo\.(all_gather|all_reduce|all_to_all|collective_broadcast|collective_permute|reduce_scatter)$"
)


@dataclasses.dataclass(frozen=True)
class Side:
    """One array where two shardings meet.

    Args:
        dims: mesh axes of each dimension.
        origins: for each axis what its place came from, as Shardy names it: `"input: 0"`, `"constraint_1"`.
        words: the same for people, without repetitions.
        by: what asks for it, where that is an operation.
        dtype: element type, as MLIR writes it.
    """

    shape: tuple[int, ...]
    dims: Dims
    origins: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    by: str = ""
    dtype: str = ""

    def __str__(self) -> str:
        said = f"[{', '.join(map(str, self.shape))}] {spec_text(self.dims)}"
        origin = " and ".join(self.words)
        origin = origin if origin in ("", UNKNOWN) else f"from {origin}"
        return ", ".join(filter(None, (said, self.by, origin)))


# Equal by identity: there are as many as operations, and each is compared with many.
@dataclasses.dataclass(frozen=True, eq=False)
class Edge:
    """A place in the program where an array has to move: before partitioning, as Shardy sees it.

    Args:
        names: JAX operations at its two ends, as `op_name` of HLO has them.
        lines: the user's lines of these.
        line: that of the operation that asks for it.
        axes: mesh axes along which devices talk.
        has: the array as it is; of a sum, the operands that are cut where they are summed.
        needs: what it has to become; of a sum, its result.
        made: what the operation makes that asks for it.
        by: that operation's name.
        kind: "moved", "summed" where terms are added up, or "met" for an operation at which Shardy moves nothing: then `has`
            are its operands that are cut, and `needs` is what it makes.
        returned: whether it is an output of the program: of a move for that alone XLA keeps neither name nor line.
    """

    names: frozenset[str]
    lines: frozenset[Line]
    line: Line
    axes: frozenset[str]
    has: tuple[Side, ...]
    needs: Side
    made: Side
    by: str
    kind: str = "moved"
    returned: bool = False


@dataclasses.dataclass(frozen=True)
class Provenance:
    """Edges of a program; the user's lines of the collectives that it holds already, and of its constraints.

    Args:
        written: by `op_name`; several lines where several collectives have one name.
        constraints: operation and line of each, by the name that origins have for it.
        met: edges of the operations of a name, as if all that they take were moved.
    """

    edges: tuple[Edge, ...]
    written: Mapping[str, tuple[Line, ...]]
    constraints: Mapping[str, tuple[str, Line]]
    met: Callable[[str], tuple[Edge, ...]]

    @functools.cached_property
    def _groups(self) -> dict[str, tuple[list[list[Edge]], list[list[Edge]]]]:
        return {}

    @functools.cached_property
    def _named(self) -> Mapping[str, list[Edge]]:
        found: dict[str, list[Edge]] = {"": [*self.edges]}
        for edge in self.edges:
            for name in edge.names:
                found.setdefault(name, []).append(edge)
        return found

    def groups(self, name: str) -> tuple[list[list[Edge]], list[list[Edge]]]:
        """The edges of the operations of a name, and those of `met`: each in groups that differ by origin alone.

        Layers that are written one after the other make many of these.
        """
        if name not in self._groups:
            self._groups[name] = _alike(self._named.get(name, [])), _alike(self.met(name))
        return self._groups[name]


def _alike(edges: Sequence[Edge]) -> list[list[Edge]]:
    groups: dict[Any, list[Edge]] = {}
    for edge in edges:
        sides = tuple((side.shape, side.dims, side.dtype) for side in (*edge.has, edge.needs))
        groups.setdefault((edge.names, edge.lines, edge.axes, edge.kind, edge.by, sides), []).append(edge)
    return list(groups.values())


def provenance(module: Any, arguments: Sequence[str]) -> Provenance | None:
    """What Shardy says of a lowered program; `None` where the jaxlib at hand has not these passes.

    Args:
        module: what `lowered.compiler_ir("stablehlo")` returns; it is left as it is.
        arguments: a name for each of its arguments.
    """
    from jaxlib.mlir.passmanager import PassManager

    # The pipeline that XLA runs, as text, told to keep origins and to write sums out; passes that it names and that cannot
    # be named (`sdy-save-module`) save files for debugging. The passes belong to the jaxlib at hand (tried on 0.10.2).
    try:
        with module.context:
            pipeline = str(PassManager.parse(f"builtin.module({PIPELINE})")).replace("sdy-save-module,", "")
            pipeline = re.sub(r"(sharding-origins|enable-full-version)=false", r"\1=true", pipeline)
            # One function for each of its calls: of one that several share, the origins would be those of one call.
            pipeline = re.sub(r"sdy-unflatten-call-graph(\{[^}]*\})?,", "", pipeline)
            passes = PassManager.parse(pipeline)
            copy = module.operation.clone()
            passes.run(copy)
            return _Reader(copy, arguments).read()
    except (ValueError, RuntimeError):  # MLIRError is a RuntimeError
        return None


class _Reader:
    """Walks a propagated module from `main`, into each function where it is called."""

    def __init__(self, module: Any, arguments: Sequence[str]) -> None:
        found = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "func.func"]
        self.functions = {op.attributes["sym_name"].value: op for op in found}
        self.module, self.arguments = module, arguments  # its operations die with it
        self.bound: dict[Any, Any] = {}
        self.names: dict[Any, tuple[str, Line]] = {}
        self.constraints: dict[str, tuple[str, Line]] = {}
        self.made: list[tuple[Any, str, Line]] = []
        self.operations: dict[str, list[tuple[Any, Line]]] = {}
        self.written: dict[str, list[Line]] = {}
        self.roots: dict[Any, Any] = {}
        self.cuts: dict[Any, Dims] = {}
        self.came: dict[Any, dict[str, str]] = {}
        self.returns: dict[str, Sequence[Any]] = {}

    def read(self) -> Provenance:
        main = self.functions["main"]
        self.entry = main.regions[0].blocks[0]
        self._walk(self.entry, "", Line())
        # Afterwards, for a constraint may stand behind what it is the origin of.
        edges = tuple(filter(None, (self._edge(*one) for one in self.made)))
        written = {name: tuple(dict.fromkeys(lines)) for name, lines in self.written.items()}
        return Provenance(edges, written, self.constraints, self._met)

    def _walk(self, block: Any, prefix: str, outer: Line) -> None:
        for view in block.operations:
            op = view.operation
            place = str(op.location)
            tail = _NAME.match(place)
            name = "/".join(filter(None, (prefix, tail[1] if tail else "")))
            line = users_line(Line(file, int(number)) for file, number in FRAME.findall(place))
            line = line if line.file else outer
            self.names |= dict.fromkeys(op.results, (name, line))
            if own := _own(op):
                self.constraints[own] = (name, line)
            if op.name in ("sdy.reshard", "sdy.all_reduce"):
                self.made.append((op, name, line))
            elif len(op.results) and len(op.operands):
                self.operations.setdefault(name, []).append((op, line))
            if _WRITTEN.match(op.name):
                self.written.setdefault(name, []).append(line)
            for inner, taken in self._inside(op):
                self.bound |= dict(zip(inner.arguments, taken))
                # What a function or a shard_map holds is named from there on, what a loop or a branch holds in full.
                self._walk(inner, prefix if op.name in _IN_FULL else name, line)

    def _inside(self, op: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
        """Blocks that `op` runs, and what stands for their arguments outside."""
        if op.name == "func.call":
            yield self.functions[op.attributes["callee"].value].regions[0].blocks[0], op.operands
        elif op.name in _LOOPS:
            for region in op.regions:
                for block in region.blocks:
                    yield block, op.operands if op.name == "stablehlo.while" else ()

    def _edge(self, op: Any, name: str, line: Line) -> Edge | None:
        array = op.operands[0]
        maker = self.names.get(self._root(array), ("", Line()))
        if op.name == "sdy.all_reduce":
            axes = frozenset(re.findall(r'"([^"]+)"', str(op.attributes["reduction_axes"])))
            summed = [v for v in self._root(array).owner.operands if axes & {a for dim in self._dims(v) for a in dim}]
            made = self._side(op.results[0])
            makers = [self.names.get(self._root(value), ("", line)) for value in (array, *summed)]
            names, lines = {name, *(told for told, _ in makers)}, frozenset({line, *(place for _, place in makers)})
            sides = tuple(map(self._side, summed))
            return Edge(frozenset(names - {""}), lines, line, axes, sides, made, made, name, "summed")
        before, after = self._dims(array), self._dims(op.results[0])
        if all(new[: len(old)] == old for old, new in zip(before, after, strict=True)):
            return None  # what is cut further is there already
        user = next((use.owner.operation for use in op.results[0].uses if len(use.owner.operation.results)), None)
        asks = _continued(user, op.results[0]) if user else op.results[0]
        by, asked = self.names[asks]
        names, lines = {name, by, maker[0]} - {""}, frozenset({line, asked, maker[1]})
        needs, made, axes = self._asked(op, after, user, asks), self._side(asks), _moved(before, after)
        returned = user is None and self._output(op) is not None
        return Edge(frozenset(names), lines, asked, axes, (self._side(array),), needs, made, by, returned=returned)

    def _met(self, name: str) -> tuple[Edge, ...]:
        found = []
        for op, line in self.operations.get(name, ()):
            # XLA names the operation that asks, or (since jaxlib 0.12) the one that made what is moved.
            takers = (taker for value in op.results for taker in self._takers.get(self._root(value), ()))
            own = not any(self._alike(op.results[0], operand) for operand in op.operands)
            for user in dict.fromkeys((*([op] if own and op.name not in _PASSED else []), *takers)):
                by, asked = self.names[user.results[0]]
                sides = tuple(side for side in map(self._side, user.operands) if any(side.dims))
                made = self._side(user.results[0])
                axes = frozenset(axis for side in (*sides, made) for dim in side.dims for axis in dim)
                found.append(
                    Edge(frozenset({name, by}), frozenset({line, asked}), asked, axes, sides, made, made, by, "met")
                )
        return tuple(found)

    @functools.cached_property
    def _takers(self) -> dict[Any, list[Any]]:
        """The operations that take each value, wherever they stand."""
        found: dict[Any, list[Any]] = {}
        for op in (op for ops in self.operations.values() for op, _ in ops if op.name not in _PASSED):
            for value in op.operands:
                found.setdefault(self._root(value), []).append(op)
        return found

    def _asked(self, op: Any, dims: Dims, user: Any, asks: Any) -> Side:
        """What the array becomes; its origins are the constraint's own, or those of what is made of it."""
        own = _own(op) or (_own(user) if user is not None else "")
        if user is not None and user.name == "sdy.manual_computation":
            own = f"{own}_input: {list(user.operands).index(op.results[0])}"
        if own:
            return self._worded(op.results[0], dims, dict.fromkeys((axis for dim in dims for axis in dim), own))
        if user is None:
            place = self._output(op)
            words = (UNKNOWN,) if place is None else (f"out_shardings of output {place}",)
            keys = {} if place is None else self._returned(place)
            side = self._worded(op.results[0], dims, keys)
            # A spec without axes has no origins, and comes from somewhere all the same.
            return side if side.words else dataclasses.replace(side, words=words)
        made = self._side(asks)
        by = f"for {self.names[asks][0].rpartition('/')[2]} to {spec_text(made.dims)}"
        return dataclasses.replace(made, shape=tuple(op.results[0].type.shape), dims=dims, by=by)

    def _output(self, op: Any) -> int | None:
        """Which output of the program this is: of `main`, for other functions only pass on; `None` if it is none."""
        use = next(iter(op.results[0].uses), None)
        if use is None or op.results[0].owner.parent != self.functions["main"]:
            return None
        return list(use.owner.operands).index(op.results[0])

    def _returned(self, place: int) -> dict[str, str]:
        """Origins of an output of the program."""
        attributes = self.functions["main"].attributes
        told = attributes["res_attrs"][place] if "res_attrs" in attributes else {}
        told = told["sdy.sharding_origins"] if "sdy.sharding_origins" in told else ""
        return {a: o if o != "self" else f"output: {place}" for a, o in _pairs(told)}

    def _side(self, value: Any) -> Side:
        return self._worded(value, self._dims(value), self._origins(value))

    def _worded(self, value: Any, dims: Dims, keys: Mapping[str, str]) -> Side:
        used = {axis: keys.get(axis, "") for dim in dims for axis in dim}
        words = tuple(dict.fromkeys(map(self._words, used.values())))
        return Side(tuple(value.type.shape), dims, tuple(used.items()), words, dtype=str(value.type.element_type))

    def _root(self, value: Any) -> Any:
        """Where a value comes from, through calls, loops and moves."""
        passed = []
        while value not in self.roots:
            passed.append(value)
            owner: Any = getattr(value, "owner", None)
            name = getattr(owner, "name", "")
            if value in self.bound:
                value = self.bound[value]
            elif name == "func.call":
                value = self._returned_by(owner.attributes["callee"].value)[value.result_number]
            elif name in ("stablehlo.while", "stablehlo.optimization_barrier"):
                value = owner.operands[value.result_number]
            else:
                self.roots[value] = value
        root = self.roots[value]
        self.roots |= dict.fromkeys(passed, root)
        return root

    def _returned_by(self, function: str) -> Sequence[Any]:
        """What a function returns; the walk has bound its arguments."""
        if function not in self.returns:
            *_, last = self.functions[function].regions[0].blocks[0].operations
            self.returns[function] = list(last.operands)
        return self.returns[function]

    def _dims(self, value: Any) -> Dims:
        """Mesh axes of each dimension of a value; none where nothing is said of it."""
        if value not in self.cuts:
            self.cuts[value] = self._read_dims(value)
        return self.cuts[value]

    def _read_dims(self, value: Any) -> Dims:
        root, rank = self._root(value), len(value.type.shape)
        owner, place = root.owner, getattr(root, "result_number", 0)
        if not hasattr(owner, "attributes"):
            told = self._argument(root).get("sdy.sharding", "")
        else:
            keys = ("sdy.sharding", "sharding", "out_sharding", "out_shardings")
            told = next((str(owner.attributes[key]) for key in keys if key in owner.attributes), "")
        all_dims = [_dims(text) for text in _DIMS.findall(told)]
        dims = all_dims[place if len(all_dims) > 1 else 0] if all_dims else ()
        return dims if len(dims) == rank else ((),) * rank

    def _origins(self, value: Any) -> dict[str, str]:
        """For each axis of a value what its place came from; what is moved, or cut alike, has that of its operand."""
        passed = []
        root = self._root(value)
        while root not in self.came:
            passed.append(root)
            before = self._before(root)
            if before is None:
                self.came[root] = self._own_origins(root)
            else:
                root = self._root(before)
        found = self.came[root]
        self.came |= dict.fromkeys(passed, found)
        return found

    def _before(self, root: Any) -> Any:
        """The operand that a value has its origins from; `None` where it has its own."""
        owner = root.owner
        if not hasattr(owner, "attributes") or _own(owner):
            return None
        if owner.name in ("sdy.reshard", "sdy.all_reduce"):
            return owner.operands[0]
        # Where Shardy has moved an operation to its operand's sharding, the origins written on it are those of before;
        # where it has moved an operand for the operation, they hold.
        kept = (value for value in owner.operands if not self._moved_here(value))
        return next(filter(functools.partial(self._alike, root), kept), None)

    @staticmethod
    def _moved_here(value: Any) -> bool:
        owner: Any = getattr(value, "owner", None)
        return getattr(owner, "name", "") == "sdy.reshard" and not _own(owner)

    def _own_origins(self, root: Any) -> dict[str, str]:
        owner, axes = root.owner, [axis for dim in self._dims(root) for axis in dim]
        if not hasattr(owner, "attributes"):
            return dict.fromkeys(axes, f"input: {root.arg_number}") if owner == self.entry else {}
        attributes = owner.attributes
        if own := _own(owner):
            return dict.fromkeys(axes, f"{own}_output: {root.result_number}" if "out_shardings" in attributes else own)
        return dict(_pairs(attributes["sdy.sharding_origins"])) if "sdy.sharding_origins" in attributes else {}

    def _alike(self, value: Any, operand: Any) -> bool:
        """Whether an operand is cut as what is made of it, or is what that is a part of."""
        dims, own = self._dims(value), self._dims(operand)
        view = value.owner.name in _VIEWS and set(filter(None, dims)) == set(filter(None, own)) and any(own)
        return view or (operand.type == value.type and dims == own)

    def _argument(self, value: Any) -> dict[str, str]:
        functions = self.functions["main"].attributes
        if value.owner != self.entry or "arg_attrs" not in functions:
            return {}
        told = functions["arg_attrs"][value.arg_number]
        return {"sdy.sharding": str(told["sdy.sharding"])} if "sdy.sharding" in told else {}

    def _words(self, key: str) -> str:
        """An origin as people say it."""
        name, _, place = key.partition(": ")
        if name == "input":
            return f"argument {self.arguments[int(place)] if int(place) < len(self.arguments) else place}"
        if name == "output":
            return f"out_shardings of output {place}"
        for role in ("input", "output"):
            if name.endswith(f"_{role}") and (mapped := self.constraints.get(name.removesuffix(f"_{role}"))):
                batched = f" {BATCHED}" * ("vmap(" in mapped[0])
                return f"{role.removesuffix('put')}_specs[{place}] of shard_map{batched}, {mapped[1]}"
        if key not in self.constraints:
            return UNKNOWN
        told, line = self.constraints[key]
        tail = told.rpartition("/")[2]
        if tail in _CONSTRAINTS:
            return f"{_CONSTRAINTS[tail]}, {line}"
        return f"out_shardings of {tail}, {line}" if tail.startswith("jit(") else f"the type that {tail} has, {line}"


def spec_text(dims: Dims) -> str:
    """The spec as it is written: `P('x', None)`.

    Example:
        >>> spec_text((("x", "y"), ()))
        "P(('x', 'y'), None)"
    """
    return f"P({', '.join(repr(dim[0] if len(dim) == 1 else dim) if dim else 'None' for dim in dims)})"


def _continued(user: Any, value: Any) -> Any:
    """The result that an operand becomes: of a loop the one in its place, else the first."""
    place = list(user.operands).index(value)
    return user.results[place if len(user.results) == len(user.operands) else 0]


def _own(op: Any) -> str:
    """The name that origins have for what `op` asks for; empty where it asks for nothing."""
    key = "sdy.sharding_origin_name"
    return str(op.attributes[key].value) if key in op.attributes else ""


def _dims(text: str) -> Dims:
    return tuple(tuple(re.findall(r'"([^"]+)"', part)) for part in re.findall(r"\{([^}]*)\}", text))


def _moved(before: Dims, after: Dims) -> frozenset[str]:
    """Axes that come, go or lie at another place of a dimension."""
    places = [{axis: (d, k) for d, dim in enumerate(dims) for k, axis in enumerate(dim)} for dims in (before, after)]
    return frozenset(axis for axis in places[0] | places[1] if places[0].get(axis) != places[1].get(axis))


def _pairs(told: Any) -> Iterator[tuple[str, str]]:
    """Axis and origin of each, from `{x = "input: 0"}` or a list whose first entry is one."""
    return iter(re.findall(r'"?([\w.-]+)"? = "([^"]*)"', str(told)))
