"""A traced program run again with its named values brought out, put in, or shaken by rounding."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from shardlens.diverging.marks import COTANGENT, mark_primitive, name_primitive
from shardlens.diverging.sums import Groups, summed
from shardlens.sources import Line, users_line

Path = tuple[int, ...]
Values = dict[Path, jax.Array]

RAN, BLOCKS = -1, -2
"""In a path: whether the branch of a `cond` that holds the value was taken; the blocks that a `shard_map` returns."""
_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call")
_EXACT = frozenset(
    "reshape transpose broadcast_in_dim slice dynamic_slice dynamic_update_slice squeeze concatenate gather copy copy_p neg "
    "abs sign max min clamp floor ceil round select_n rev pad iota sort split expand_dims reduce_max reduce_min name "
    "stop_gradient named_derivative pvary all_gather ppermute all_to_all sharding_constraint reshard random_bits".split()
)
"""Operations that do not round."""


@dataclasses.dataclass(frozen=True)
class Around:
    """What is around a value: `mesh` and `rounds` add dimensions in front, a `branch` may not run."""

    kind: str  # "mesh", "rounds", "branch", or "while", which shows its last round
    depth: int
    axes: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    reverse: bool = False


@dataclasses.dataclass(frozen=True)
class Site:
    """A place of a traced program that names a value; paths are in the order in which they run."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: Any
    line: Line
    around: tuple[Around, ...]
    placed: bool = False
    """Whether explicit mesh axes cut it."""


def line_of(eqn: Any) -> Line:
    """The user's innermost line that made an equation."""
    traceback = eqn.source_info.traceback
    return users_line(Line(frame.file_name, frame.line_num) for frame in (traceback.frames if traceback else ()))


def inner(eqn: Any) -> tuple[str, list[Any]]:
    """What kind of loop, branch or call an equation is, and its jaxprs, closed; an empty kind where it is none."""
    kind, params = eqn.primitive.name, eqn.params
    if kind in _CALLS:
        found = params.get("jaxpr", params.get("call_jaxpr"))
        return ("call", [found]) if found is not None else ("", [])
    if kind in ("scan", "shard_map"):
        return kind, [params["jaxpr"]]
    if kind == "while":
        return kind, [params["body_jaxpr"]]
    return (kind, list(params["branches"])) if kind == "cond" else ("", [])


def opened(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """A jaxpr and its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ())


def named_here(eqn: Any, guess: bool) -> str | None:
    """The name that an equation gives, or `None`; with `guess` each product has one."""
    if eqn.primitive is name_primitive():
        return str(eqn.params["name"])
    if eqn.primitive is mark_primitive():
        return COTANGENT + str(eqn.params["name"]) if eqn.params["backward"] else None
    if guess and eqn.primitive.name in ("dot_general", "conv_general_dilated", "ragged_dot_general"):
        return "product"
    return None


def sites(
    jaxpr: Any, guess: bool = False, path: Path = (), around: tuple[Around, ...] = (), again: bool = False
) -> Iterator[Site]:
    """The named places of a program, in order. What a backward pass computes again is not named twice."""
    for number, eqn in enumerate(opened(jaxpr)[0].eqns):
        here = (*path, number)
        said = named_here(eqn, guess)
        if said is not None and not (again and not said.startswith(COTANGENT)):
            aval = eqn.outvars[0].aval
            yield Site(here, said, tuple(aval.shape), aval.dtype, line_of(eqn), around, is_placed(aval))
        kind, bodies = inner(eqn)
        for which, body in enumerate(bodies):
            recomputed = again or bool(eqn.params.get("differentiated"))
            yield from sites(body, guess, (*here, which), (*around, *_around(kind, eqn, len(path))), recomputed)


def is_placed(aval: Any) -> bool:
    """Whether an array's type says how explicit mesh axes cut it."""
    return any(getattr(getattr(aval, "sharding", None), "spec", ()))


def _around(kind: str, eqn: Any, depth: int) -> list[Around]:
    if kind == "scan":
        return [Around("rounds", depth, (), (eqn.params["length"],), eqn.params["reverse"])]
    if kind == "shard_map":
        axes = manual_axes(eqn)
        return [Around("mesh", depth, axes, tuple(eqn.params["mesh"].shape[axis] for axis in axes))]
    return [Around("branch" if kind == "cond" else kind, depth)] if kind in ("cond", "while") else []


def scan_counts(params: Any) -> tuple[int, int]:
    """How many constants a `scan` has, and how many arrays it carries; JAX 0.12 says it by trees."""
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()
    return len(consts), len(carry)


def manual_axes(eqn: Any) -> tuple[str, ...]:
    """The mesh axes that a `shard_map` maps over, in the mesh's order."""
    chosen = eqn.params.get("newly_manual_axes", eqn.params.get("manual_axes"))
    return tuple(axis for axis in eqn.params["mesh"].axis_names if axis in chosen)


class Tapped:
    """A program that returns its outputs and its named values; `given` ones take the place of what it computes.

    Args:
        jaxpr: closed.
        chosen: the sites that are brought out.
        mapped: as `mapped_outputs` gives them; of these the devices' blocks are brought out too.
        shaken: whether the result of each operation that rounds is moved by a unit of rounding, up or down, where `salt` is
            not 0: what comes out then differs from the program's values as another order of the same sums would.
        sums: of the values that come out as sums, their groups, by path.
    """

    def __init__(
        self,
        jaxpr: Any,
        chosen: Sequence[Site],
        mapped: Collection[Path] = (),
        shaken: bool = False,
        sums: Mapping[Path, Groups] | None = None,
    ) -> None:
        self.jaxpr, self.shaken, self.mapped, self.sums = jaxpr, shaken, mapped, sums or {}
        self.chosen = {site.path: site for site in chosen}
        self.within = {path[:n] for path in (*self.chosen, *mapped) for n in range(1, len(path))}

    def __call__(self, flat: Sequence[Any], given: Mapping[Path, Any], salt: Any) -> tuple[list[Any], Values]:
        """Outputs, and named values by path; `given` has pairs of what is put in, round by round, and the values."""
        flat = [self._shake(x, salt) for x in flat] if self.shaken else list(flat)
        return self._run(self.jaxpr, flat, dict(given), salt, ())

    def _run(
        self, jaxpr: Any, args: Sequence[Any], given: dict[Path, Any], salt: Any, path: Path
    ) -> tuple[list[Any], Values]:
        jaxpr, consts = opened(jaxpr)
        env: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]))
        taps: Values = {}
        for number, eqn in enumerate(jaxpr.eqns):
            ins = [v.val if isinstance(v, Literal) else env[v] for v in eqn.invars]
            with eqn.ctx.manager:
                outs, more = self._equation(eqn, ins, given, salt, (*path, number))
            taps |= more
            env.update(zip(eqn.outvars, outs))
        return [v.val if isinstance(v, Literal) else env[v] for v in jaxpr.outvars], taps

    def _equation(self, eqn: Any, ins: list[Any], given: dict[Path, Any], salt: Any, here: Path) -> tuple[list[Any], Values]:
        kind, bodies = inner(eqn)
        if kind and (self.shaken or here in self.within):
            mine = {path: value for path, value in given.items() if path[: len(here)] == here}
            return getattr(self, f"_{kind}")(eqn, bodies, ins, mine, salt, here)  # type: ignore[no-any-return]
        outs = eqn.primitive.bind(*ins, **eqn.primitive.get_bind_params(eqn.params))
        outs = list(outs) if eqn.primitive.multiple_results else [outs]
        if self.shaken and eqn.primitive.name not in _EXACT:
            outs = [self._shake(x, salt) for x in outs]
        if here not in self.chosen:
            return outs, {}
        taps = {here: summed(outs[0], self.sums.get(here, ()))}
        if here in given:
            put, value = given[here]
            outs = [jnp.where(put, self._shake(value.astype(outs[0].dtype), salt), outs[0])]
        return outs, taps

    def _call(self, eqn: Any, bodies: Any, ins: Any, given: Any, salt: Any, here: Path) -> tuple[list[Any], Values]:
        return self._run(bodies[0], ins, given, salt, (*here, 0))

    def _shard_map(self, eqn: Any, bodies: Any, ins: Any, given: Any, salt: Any, here: Path) -> tuple[list[Any], Values]:
        axes, p = manual_axes(eqn), eqn.params
        front = tuple(range(len(axes)))

        def body(ins: Any, salt: Any) -> Any:
            outs, taps = self._run(bodies[0], ins, {}, salt, (*here, 0))
            returned = (path for path in self.mapped if path[:-2] == here)
            taps |= {path: summed(outs[path[-1]], self.sums.get(path, ())) for path in returned}
            return outs, {path: jnp.expand_dims(value, front) for path, value in taps.items()}

        specs = (list(p["in_specs"]), jax.P())
        mapped = jax.shard_map(
            body, mesh=p["mesh"], in_specs=specs, out_specs=(list(p["out_specs"]), jax.P(*axes)),
            axis_names=set(axes), check_vma=p["check_vma"],
        )  # fmt: skip
        return mapped(list(ins), salt)  # type: ignore[no-any-return]

    def _scan(self, eqn: Any, bodies: Any, ins: Any, given: Any, salt: Any, here: Path) -> tuple[list[Any], Values]:
        p = eqn.params
        consts, count = scan_counts(p)
        carried = consts + count
        fixed = ins[:consts]

        def body(carry: Any, xs: Any) -> Any:
            ins, held = xs
            outs, taps = self._run(bodies[0], [*fixed, *carry, *ins], held, salt, (*here, 0))
            return outs[:count], (outs[count:], taps)

        xs = (list(ins[carried:]), given)
        carry, (ys, taps) = jax.lax.scan(body, list(ins[consts:carried]), xs, p["length"], p["reverse"])
        return [*carry, *ys], taps

    def _while(self, eqn: Any, bodies: Any, ins: Any, given: Any, salt: Any, here: Path) -> tuple[list[Any], Values]:
        p = eqn.params
        of_condition, of_both = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
        test, test_consts = opened(p["cond_jaxpr"])

        def round_(state: Any) -> Any:
            return self._run(bodies[0], [*ins[of_condition:of_both], *state], given, salt, (*here, 0))

        def again(carry: Any) -> Any:
            return jax.core.eval_jaxpr(test, test_consts, *ins[:of_condition], *carry[0])[0]

        none = jax.tree.map(_nothing, round_(list(ins[of_both:]))[1])
        outs, taps = jax.lax.while_loop(again, lambda carry: round_(carry[0]), (list(ins[of_both:]), none))
        return outs, taps

    def _cond(self, eqn: Any, bodies: Any, ins: Any, given: Any, salt: Any, here: Path) -> tuple[list[Any], Values]:
        which, *ins = ins
        runs = [functools.partial(self._branch, body, given, salt, (*here, n)) for n, body in enumerate(bodies)]
        every: Values = {}  # of each branch the types alone: the compiler removes what nothing uses
        for run in runs:
            every |= run(ins)[1]

        def branch(run: Callable[..., Any]) -> Callable[..., Any]:
            def of(ins: Any) -> Any:
                outs, taps = run(ins)
                named = [path for path in every if path[-1] != RAN and (*path, RAN) not in taps]
                ran = {(*path, RAN): jnp.array(path in taps) for path in named}
                return outs, jax.tree.map(_nothing, every) | ran | taps

            return of

        return jax.lax.switch(which, [branch(run) for run in runs], ins)  # type: ignore[no-any-return]

    def _branch(self, body: Any, given: Any, salt: Any, path: Path, ins: Any) -> tuple[list[Any], Values]:
        return self._run(body, ins, given, salt, path)

    def _shake(self, x: Any, salt: Any) -> Any:
        """A value with each number moved by up to two units of rounding, as a hash of its bits says."""
        dtype = getattr(x, "dtype", None)
        if dtype is None or not jnp.issubdtype(dtype, jnp.floating):
            return x
        bits = jax.lax.bitcast_convert_type(x, f"uint{8 * dtype.itemsize}").astype(jnp.uint32) * salt
        steps = jax.lax.shift_right_arithmetic(bits.astype(jnp.int32), jnp.int32(30))  # -2 to 1, and 0 where salt is 0
        of = jnp.finfo(dtype)  # type: ignore[no-untyped-call]
        moved = x * (1 + steps.astype(dtype) * jnp.asarray(of.eps, dtype))
        if of.max < 1e38:
            return moved
        return jnp.where(jnp.abs(x) < jnp.asarray(of.max / 2, dtype), moved, x)  # a mask's value would become infinite


def _nothing(like: Any) -> Any:
    """Zeros of a traced value's type, which says in a `shard_map` over which axes it varies."""
    made, kind = jnp.zeros(like.shape, like.dtype), jax.typeof(like)
    varying = tuple(getattr(kind, "vma", None) or getattr(getattr(kind, "mat", None), "varying", None) or ())
    return jax.lax.pcast(made, varying, to="varying") if varying else made


def mapped_outputs(jaxpr: Any, path: Path = ()) -> list[tuple[Path, Around] | None]:
    """For each output that a `shard_map` gives as it is: a path that ends in `BLOCKS` and its number there."""
    jaxpr, _ = opened(jaxpr)
    found: dict[Any, tuple[Path, Around] | None] = {}
    for number, eqn in enumerate(jaxpr.eqns):
        kind, bodies = inner(eqn)
        if kind == "call":
            found.update(zip(eqn.outvars, mapped_outputs(bodies[0], (*path, number, 0))))
        elif kind == "shard_map":
            around = _around(kind, eqn, len(path))[0]
            found.update((v, ((*path, number, BLOCKS, n), around)) for n, v in enumerate(eqn.outvars))
    return [None if isinstance(v, Literal) else found.get(v) for v in jaxpr.outvars]


def execution(site: Site, rounds: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The place of one round of a value in the order in which a program runs."""
    each = {around.depth: (n if not around.reverse else -n) for around, n in zip(loops(site), rounds)}
    return tuple((number, each.get(depth, 0)) for depth, number in enumerate(site.path))


def loops(site: Site) -> list[Around]:
    """The scans around a value, the outermost first."""
    return [around for around in site.around if around.kind == "rounds"]


def mesh_of(site: Site) -> dict[str, int]:
    """The mesh axes over which a value comes in blocks, with their sizes."""
    return dict(itertools.chain.from_iterable(zip(a.axes, a.sizes) for a in site.around if a.kind == "mesh"))
