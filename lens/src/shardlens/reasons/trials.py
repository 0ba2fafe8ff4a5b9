"""Small changes of a program, each compiled: another spec of an argument, output or constraint, or a constraint more."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import inspect as python
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shardlens.reasons.provenance import Dims, Edge, Provenance, Side, spec_text
from shardlens.sources import Line, users_line

_NUMBER = re.compile(r"\[\d+\]")


@dataclasses.dataclass(frozen=True)
class Change:
    """One change: where, and the spec that stands there instead.

    Args:
        kind: "argument", "output", "constraint" (one that is there), "result" (of an operation, constrained anew).
        places: positions of the argument's leaves, several where layers are alike, or of the output's.
        dims: mesh axes of each dimension.
        line: of the constraint or the operation.
        primitive: the operation's.
        text: the change in words.
    """

    kind: str
    dims: Dims
    places: tuple[int, ...] = ()
    line: Line = Line()
    primitive: str = ""
    text: str = dataclasses.field(default="", compare=False)


class Source:
    """A function and its arguments, to be built again as they are or with one change.

    Everything that has no shape, a mesh or a function, stays as it is, and Python's numbers where `f` holds them static.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        import jax

        paths, self.tree = jax.tree_util.tree_flatten_with_path((args, dict(kwargs)))
        self.f, self.given = f, [leaf for _, leaf in paths]
        self.changes_in_place = type(f).__module__.startswith("flax.nnx")
        shaped = [i for i, leaf in enumerate(self.given) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]
        numbers = [i for i, leaf in enumerate(self.given) if isinstance(leaf, (bool, int, float, complex))]
        closed = self._chosen(shaped, numbers)
        names = _parameters(f, len(args))
        self.names = [_name(paths[i][0], names) for i in self.places]
        self.outputs = [tuple(aval.shape) for aval in closed.out_avals]
        asked = _unwrapped(closed)[1].get("in_shardings", (None,) * len(self.leaves))
        self.asked = [isinstance(one, jax.NamedSharding) for one in asked]
        carried = (getattr(leaf, "sharding", None) for leaf in self.leaves)
        self.shardings = [one if own else given for one, own, given in zip(asked, self.asked, carried)]
        context = jax.sharding.get_abstract_mesh()
        named = (s.mesh for s in self.shardings if isinstance(s, jax.NamedSharding))
        self.mesh = next(named, next(_meshes(closed.jaxpr), None) if context.empty else context)

    def _chosen(self, shaped: Sequence[int], numbers: Sequence[int]) -> Any:
        """Chooses the leaves that are traced, and returns the function's jaxpr: Python's numbers too, unless `f` forbids."""
        kept = list(shaped)
        # To equinox a number is static and a tracer is not. Which ones `jax.jit` holds static, only tracing tells.
        if numbers and not type(self.f).__module__.startswith("equinox"):
            for more in (numbers, *([i] for i in numbers)):
                with contextlib.suppress(Exception):
                    closed, kept = self._traced_with(sorted((*kept, *more))), sorted((*kept, *more))
                    if more is numbers:
                        return closed
        return self._traced_with(kept)

    def _traced_with(self, places: Sequence[int]) -> Any:
        self.places, self.leaves = places, [self.given[i] for i in places]
        return self.traced(self.leaves)

    def traced(self, leaves: Sequence[Any]) -> Any:
        """The jaxpr of the function, of its leaves that are arrays."""
        import jax

        def call(*arrays: Any) -> Any:
            given = list(self.given)
            for place, array in zip(self.places, arrays):
                given[place] = array
            args, kwargs = jax.tree.unflatten(self.tree, given)
            out = self.f(*args, **kwargs)
            # What nnx.jit returns before the rest: models and optimizers that it has changed in place.
            return (args, kwargs, out) if self.changes_in_place else out

        return jax.make_jaxpr(call)(*leaves)

    def built(self, change: Change | None = None) -> tuple[Any, list[Any]]:
        """A new jitted function of the leaves, and these: nothing that JAX has compiled before is used again."""
        import jax

        leaves: list[Any] = list(self.leaves)
        mesh: Any = self.mesh
        sharding = None if change is None else jax.NamedSharding(mesh, _spec(change.dims))
        for place in change.places if change is not None and change.kind == "argument" else ():
            if not self.asked[place]:
                leaves[place] = _placed(leaves[place], sharding)
        closed = self.traced(leaves)
        if change is not None and change.kind in ("constraint", "result"):
            closed = closed.replace(jaxpr=_edited(closed.jaxpr, change, self.mesh))
        closed, options = _unwrapped(closed)
        for kind, key, count in (("output", "out_shardings", len(self.outputs)), ("argument", "in_shardings", len(leaves))):
            for place in change.places if change is not None and change.kind == kind else ():
                if kind == "output" or self.asked[place]:
                    given = list(options.get(key, (None,) * count))
                    given[place] = sharding
                    options[key] = tuple(given)
        return jax.jit(_named(closed, str(options.pop("name", "f"))), **options), leaves

    @functools.cached_property
    def _standing(self) -> collections.Counter[tuple[Line, str]]:
        """How many operations of a name stand in a line: a change there changes all of them."""
        return collections.Counter((_line(each), each.primitive.name) for each in _equations(self.traced(self.leaves).jaxpr))

    def dims(self, place: int) -> Dims | None:
        """Mesh axes of each dimension of an argument; `None` if it has no spec."""
        import jax

        sharding = self.shardings[place]
        if not isinstance(sharding, jax.NamedSharding):
            return None
        entries = [() if e is None else e if isinstance(e, tuple) else (e,) for e in sharding.spec]
        return (*entries, *((),) * (len(self.leaves[place].shape) - len(entries)))

    def changes(self, edge: Edge, found: Provenance) -> Iterator[Change]:
        """What may make an edge cheaper, the likeliest first."""
        sides = (*edge.has, edge.needs)
        origins = dict.fromkeys(key for side in sides for _, key in side.origins)
        for key in origins:
            name, _, place = key.partition(": ")
            if name == "input":
                yield from self._arguments(edge, sides, int(place))
            elif name == "output":
                yield from self._outputs(edge, [int(place)], edge.has[0])
            elif key in found.constraints and found.constraints[key][0].endswith("sharding_constraint"):
                line = found.constraints[key][1]
                for dims in self._variants(edge, edge.made):
                    text = f"the constraint in {line}: {spec_text(dims)}"
                    yield Change("constraint", dims, line=line, text=text)
        # Of another order too: a gradient is turned round after it is summed.
        same = [k for k, shape in enumerate(self.outputs) if sorted(shape) == sorted(edge.made.shape)]
        yield from self._outputs(edge, same, edge.made)
        if "transpose(" not in edge.by and "jvp(" not in edge.by:
            # Only where the line is not differentiated: a constraint there would bind its gradient too.
            primitive = edge.by.rpartition("/")[2]
            count = self._standing[edge.line, primitive]
            each = f"each of the {count} {primitive}s" if count > 1 else f"the {primitive}"
            for dims in self._variants(edge, edge.made):
                text = f"with_sharding_constraint(..., {spec_text(dims)}) around {each} in {edge.line}"
                yield Change("result", dims, line=edge.line, primitive=primitive, text=text)

    def _arguments(self, edge: Edge, sides: Sequence[Side], place: int) -> Iterator[Change]:
        now = self.dims(place)
        if now is None:
            return
        shape = tuple(self.leaves[place].shape)
        wanted = [side.dims for side in sides if side.shape == shape]
        alike = self._alike(place, now)
        name = _NUMBER.sub("[*]", self.names[place]) if len(alike) > 1 else self.names[place]
        of = f" ({len(alike)} of them)" if len(alike) > 1 else ""
        for dims in dict.fromkeys((*wanted, *_moves(now, shape, edge.axes, self.sizes))):
            if dims != now and self._fits(shape, dims):
                text = f"argument {name}: {spec_text(dims)} instead of {spec_text(now)}{of}"
                yield Change("argument", dims, alike, text=text)

    def _alike(self, place: int, now: Dims) -> tuple[int, ...]:
        """Leaves of other layers that are cut as this one: of the same name but for numbers, and the same shape."""
        name, shape = _NUMBER.sub("[*]", self.names[place]), self.leaves[place].shape
        same = (k for k, each in enumerate(self.names) if _NUMBER.sub("[*]", each) == name)
        return tuple(k for k in same if self.leaves[k].shape == shape and self.dims(k) == now)

    def _outputs(self, edge: Edge, places: Sequence[int], side: Side) -> Iterator[Change]:
        for place in places:
            shape = self.outputs[place]
            like = side if side.shape == shape else dataclasses.replace(side, shape=shape, dims=((),) * len(shape))
            for dims in (like.dims, *self._variants(edge, like)):
                yield Change("output", dims, (place,), text=f"out_shardings of output {place}: {spec_text(dims)}")

    def _variants(self, edge: Edge, side: Side) -> Iterator[Dims]:
        yield from (d for d in _moves(side.dims, side.shape, edge.axes, self.sizes) if self._fits(side.shape, d))

    def _fits(self, shape: Sequence[int], dims: Dims) -> bool:
        return all(n % math.prod(self.sizes[axis] for axis in dim) == 0 for n, dim in zip(shape, dims))

    @property
    def sizes(self) -> Mapping[str, int]:
        """Devices along each mesh axis."""
        return dict(self.mesh.shape) if self.mesh is not None else {}


def _placed(leaf: Any, sharding: Any) -> Any:
    import jax

    weak = bool(getattr(leaf, "weak_type", False))
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=weak)


def _meshes(jaxpr: Any) -> Iterator[Any]:
    """Meshes that the program names itself."""
    for equation in _equations(jaxpr):
        for value in equation.params.values():
            mesh = getattr(value, "mesh", value)
            if hasattr(mesh, "axis_names") and hasattr(mesh, "axis_types") and not mesh.empty:
                yield mesh


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a program, those of loops, branches and functions too."""
    from jax.extend.core import jaxprs_in_params

    for equation in jaxpr.eqns:
        yield equation
        for inner in jaxprs_in_params(equation.params):
            yield from _equations(inner)


def _moves(dims: Dims, shape: Sequence[int], axes: frozenset[str], sizes: Mapping[str, int]) -> Iterator[Dims]:
    """`dims` with one axis at another dimension, then with one axis left out, then with two dimensions exchanged."""
    for axis in sorted(axes & set(sizes)):
        without = tuple(tuple(a for a in dim if a != axis) for dim in dims)
        for place in range(len(shape)):
            if axis not in dims[place]:
                yield (*without[:place], (*without[place], axis), *without[place + 1 :])
        if without != dims:
            yield without
    for i, j in itertools.combinations(range(len(shape)), 2):
        if dims[i] != dims[j]:
            yield (*dims[:i], dims[j], *dims[i + 1 : j], dims[i], *dims[j + 1 :])


def _spec(dims: Dims) -> Any:
    import jax

    return jax.P(*(dim[0] if len(dim) == 1 else dim or None for dim in dims))


def _name(path: tuple[Any, ...], names: Sequence[str]) -> str:
    """An argument's leaf as its reader calls it: `params['w']`."""
    import jax

    kind, first, *rest = path
    name = names[first.idx] if kind.idx == 0 else str(first.key)
    return str(name + jax.tree_util.keystr(tuple(rest)))


def _parameters(f: Any, count: int) -> list[str]:
    try:
        known = python.signature(f).parameters.values()
        names = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return [*names[:count], *(f"args[{i}]" for i in range(len(names), count))]


def _unwrapped(closed: Any) -> tuple[Any, dict[str, Any]]:
    """The program inside of the user's own `jax.jit`, and the options that it was given."""
    only = closed.jaxpr.eqns[0] if len(closed.jaxpr.eqns) == 1 else None
    if only is None or only.primitive.name not in ("jit", "pjit"):
        return closed, {}
    inputs, outputs = ({id(var): k for k, var in enumerate(each)} for each in (only.invars, only.outvars))
    taken, given = [inputs.get(id(v)) for v in closed.jaxpr.invars], [outputs.get(id(v)) for v in closed.jaxpr.outvars]
    options = {
        key: tuple(None if k is None else _told(only.params[key][k]) for k in places)
        for key, places in (("in_shardings", taken), ("out_shardings", given))
    }
    options = {key: value for key, value in options.items() if any(one is not None for one in value)}
    donated = tuple(i for i, k in enumerate(taken) if k is not None and only.params["donated_invars"][k])
    # In another order, as nnx.jit has it, the inner program is left where it is.
    same = taken == [*range(len(only.invars))] and given == [*range(len(only.outvars))]
    return only.params["jaxpr"] if same else closed, {**options, "donate_argnums": donated, "name": only.params["name"]}


def _told(sharding: Any) -> Any:
    # Not by `isinstance`: the class of what was left unspecified is private to JAX.
    return None if type(sharding).__name__ == "UnspecifiedValue" else sharding


def _named(closed: Any, name: str) -> Callable[..., Any]:
    from jax.extend.core import jaxpr_as_fun

    run = jaxpr_as_fun(closed)

    def f(*leaves: Any) -> Any:
        return tuple(run(*leaves))

    f.__name__ = f.__qualname__ = name
    return f


def _edited(jaxpr: Any, change: Change, mesh: Any) -> Any:
    """A jaxpr with the change made wherever its line is, in loops and branches too."""
    equations = []
    for equation in jaxpr.eqns:
        params = {key: _deep(value, change, mesh) for key, value in equation.params.items()}
        equations += _changed(equation.replace(params=params), change, mesh)
    return jaxpr.replace(eqns=equations)


def _deep(value: Any, change: Change, mesh: Any) -> Any:
    if hasattr(value, "eqns") and hasattr(value, "consts") and hasattr(value, "jaxpr"):
        return value.replace(jaxpr=_edited(value.jaxpr, change, mesh))
    if hasattr(value, "eqns"):
        return _edited(value, change, mesh)
    return type(value)(_deep(v, change, mesh) for v in value) if type(value) in (tuple, list) else value


def _changed(equation: Any, change: Change, mesh: Any) -> list[Any]:
    import jax

    if equation.primitive.name != (change.primitive or "sharding_constraint") or _line(equation) != change.line:
        return [equation]
    output = equation.outvars[0]
    if len(output.aval.shape) != len(change.dims):
        return [equation]
    if change.kind == "constraint":
        old = equation.params["sharding"]
        params = {"sharding": jax.NamedSharding(old.mesh, _spec(change.dims)), "unconstrained_dims": frozenset()}
        return [equation.replace(params={**equation.params, **params})]
    # The new equation is one that JAX itself makes of an array of that shape; its variables are taken over.
    array = jax.ShapeDtypeStruct(output.aval.shape, output.aval.dtype)
    sharding = jax.NamedSharding(mesh, _spec(change.dims))
    (made,) = jax.make_jaxpr(lambda x: jax.lax.with_sharding_constraint(x, sharding))(array).jaxpr.eqns
    before = equation.replace(outvars=[*made.invars, *equation.outvars[1:]])
    return [before, made.replace(outvars=[output], source_info=equation.source_info)]


def _line(equation: Any) -> Line:
    traceback = equation.source_info.traceback
    return users_line(Line(frame.file_name, frame.line_num) for frame in traceback.frames) if traceback else Line()
