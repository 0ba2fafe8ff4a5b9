"""Mistakes of this field: collectives, specs, sizes, indices, keys, masks, and what is left to the compiler."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from shardlab_tools.mutants.operators import Operator, called, number, of, renamed

SENDS = {
    "psum": ("pmean", "pmax"), "pmean": ("psum",), "pmax": ("psum", "pmin"), "pmin": ("pmax",), "all_gather": (),
    "psum_scatter": ("psum",), "all_to_all": (), "ppermute": (), "pshuffle": (),
}  # fmt: skip
UNCHANGED = {"pvary", "pcast", "reshard", "with_sharding_constraint", "device_put", "astype", "fold_in", "stop_gradient"}
SIZES = {"axis_size", "size", "shape"}
DIMENSIONS = {"axis", "axes", "scatter_dimension", "split_axis", "concat_axis", "split_dimension", "axis_name", "dimension"}
FLAGS = {"tiled", "keepdims", "to", "axis_index_groups", "check_vma", "out_sharding", "preferred_element_type", "reduced"}


def collective_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Only the block itself, without what is sent; a constraint, a cast, a fold of the key left out."""
    if isinstance(node, ast.Call) and node.args and called(node) in {*SENDS, *UNCHANGED}:
        method = called(node) == "astype" and isinstance(node.func, ast.Attribute)
        yield node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0]


def collective_doubled(node: ast.AST) -> Iterator[ast.AST]:
    """What was sent is sent again."""
    if isinstance(node, ast.Call) and node.args and called(node) in SENDS:
        yield ast.Call(node.func, [node, *node.args[1:]], node.keywords)


def collective_swapped(node: ast.AST) -> Iterator[ast.AST]:
    """`pmean` for `psum`, `pmax` for `psum`, all of it where a part is wanted."""
    if isinstance(node, ast.Call):
        for name in SENDS.get(called(node), ()):
            new = renamed(node, name)
            if name == "psum":
                new.keywords = []
            yield new


def scaled(node: ast.AST) -> Iterator[ast.AST]:
    """What a collective gives, times or divided by the number of devices along its axis."""
    if isinstance(node, ast.Call) and len(node.args) >= 2 and called(node) in ("psum", "pmean", "psum_scatter"):
        size = ast.parse(f"jax.lax.axis_size({ast.unparse(node.args[1])})", mode="eval").body
        yield of(ast.Div, node, size)
        yield of(ast.Mult, node, size)


def argument_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A call without one of its options: not tiled, no `to=`, no `keepdims=`."""
    if isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in FLAGS:
                yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])


def other_dimension(node: ast.AST) -> Iterator[ast.AST]:
    """The other dimension of two in `axis=`, `scatter_dimension=`, `sum(1)`."""
    if not isinstance(node, ast.Call):
        return
    for i, keyword in enumerate(node.keywords):
        if keyword.arg in DIMENSIONS and isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is int:
            new = copy.copy(keyword)
            new.value = number(1 if keyword.value.value == 0 else 0)
            yield ast.Call(node.func, node.args, [*node.keywords[:i], new, *node.keywords[i + 1 :]])


def spec_changed(node: ast.AST) -> Iterator[ast.AST]:
    """A spec with two entries swapped, one gone, all gone; with one more; with two axes of an entry in the other order."""
    if not (isinstance(node, ast.Call) and called(node) in ("P", "PartitionSpec")) or node.keywords:
        return
    entries, none = node.args, ast.Constant(None)
    made = [entries[:i] + [entries[i + 1], entries[i]] + entries[i + 2 :] for i in range(len(entries) - 1)]
    for i, entry in enumerate(entries):
        if not (isinstance(entry, ast.Constant) and entry.value is None):
            made.append([*entries[:i], none, *entries[i + 1 :]])
        if isinstance(entry, ast.Tuple) and len(entry.elts) > 1:
            made += [[*entries[:i], ast.Tuple(entry.elts[::-1], ast.Load()), *entries[i + 1 :]]]
            made += [[*entries[:i], e, *entries[i + 1 :]] for e in entry.elts]
    made += [entries[:-1], [none, *entries]] if entries else [[ast.Constant("x")], [none, ast.Constant("x")]]
    for arguments in made:
        if [ast.dump(a) for a in arguments] != [ast.dump(a) for a in entries]:
            yield ast.Call(node.func, arguments, [])


def index_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Every device takes itself for the first, or for the next one."""
    if called(node) == "axis_index" and isinstance(node, ast.Call):
        yield number(0)
        yield of(ast.Add, node, number(1))


def size_assumed(node: ast.AST) -> Iterator[ast.AST]:
    """A constant where the mesh or the block tells a size."""
    asks = called(node) == "axis_size" or (isinstance(node, ast.Attribute) and node.attr == "size")
    shape = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if asks or shape:
        yield from map(number, (2, 4, 8))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            yield ast.Subscript(node.value, number(1 if node.slice.value == 0 else 0), node.ctx)


def pair_turned(node: ast.AST) -> Iterator[ast.AST]:
    """A permutation the other way round: source and destination changed places."""
    if isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Tuple) and len(node.elt.elts) == 2:
        yield ast.ListComp(ast.Tuple(node.elt.elts[::-1], ast.Load()), node.generators)


def mask_forgotten(node: ast.AST) -> Iterator[ast.AST]:
    """`where` with one side alone, or with the sides swapped; one part of a split key for all."""
    if called(node) in ("where", "select") and isinstance(node, ast.Call) and len(node.args) == 3:
        condition, yes, no = node.args
        yield ast.Call(node.func, [condition, no, yes], node.keywords)
        yield yes
        yield no


def narrower(node: ast.AST) -> Iterator[ast.AST]:
    """Half the bits in what is multiplied or sent."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield of(ast.MatMult, _narrow(node.left), _narrow(node.right))
    elif isinstance(node, ast.Call) and called(node) in SENDS and node.args:
        yield ast.Call(node.func, [_narrow(node.args[0]), *node.args[1:]], node.keywords)
    elif isinstance(node, ast.Attribute) and node.attr == "float32":
        yield ast.Attribute(node.value, "bfloat16", node.ctx)


def transposed(node: ast.AST) -> Iterator[ast.AST]:
    """`.T` forgotten, or one too many on a side of a product."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT") and isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield of(ast.MatMult, ast.Attribute(node.left, "T", ast.Load()), node.right)
        yield of(ast.MatMult, node.left, ast.Attribute(node.right, "T", ast.Load()))


def gathered_first(node: ast.AST) -> Iterator[ast.AST]:
    """What a body returns or a collective is given makes a way round by all devices: right, and dearer."""
    if isinstance(node, ast.Call) and called(node) in (
        "psum",
        "pmax",
        "psum_scatter",
        "ppermute",
        "all_gather",
        "all_to_all",
    ):
        if len(node.args) >= 2:
            axis, block = ast.unparse(node.args[1]), ast.unparse(node.args[0])
            text = f"jax.lax.all_gather({block}, {axis})[jax.lax.axis_index({axis})]"
            yield ast.Call(node.func, [ast.parse(text, mode="eval").body, *node.args[1:]], node.keywords)


def nothing_added(node: ast.AST) -> Iterator[ast.AST]:
    """A collective whose result is multiplied by zero, and one that nobody uses."""
    if isinstance(node, ast.Call) and called(node) in ("psum", "pmax", "all_gather") and len(node.args) >= 2:
        axis, block = ast.unparse(node.args[1]), ast.unparse(node.args[0])
        yield ast.parse(f"({ast.unparse(node)}) + 0 * jax.lax.psum(({block}).sum(), {axis})", mode="eval").body
        yield ast.parse(f"(jax.lax.psum({block}, {axis}), {ast.unparse(node)})[1]", mode="eval").body


def left_to_the_compiler(node: ast.AST) -> Iterator[ast.AST]:
    """The body on whole arrays, and the output's sharding asked for, with a dead `shard_map` beside it or without."""
    if not isinstance(node, ast.FunctionDef) or not node.args.args or node.args.args[0].arg != "mesh":
        return
    for dead in ("", "jax.shard_map(lambda: jax.lax.psum(jax.lax.axis_index(mesh.axis_names[0]), mesh.axis_names[0]), "
                     "mesh=mesh, in_specs=(), out_specs=jax.P())()"):  # fmt: skip
        new = _Whole().visit(copy.deepcopy(node))
        if ast.dump(new) != ast.dump(node):
            new.body = [*ast.parse(dead).body, *new.body]
            yield new


def other_axis(node: ast.AST) -> Iterator[ast.AST]:
    """Another mesh axis of those that questions use."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for pair in (("x", "y"), ("data", "model"), ("model", "seq"), ("dcn", "ici"), ("stage", "data"), ("expert", "data")):
            if node.value in pair:
                yield ast.Constant(pair[1 - pair.index(node.value)])


class _Whole(ast.NodeTransformer):
    """Sends nothing, and calls bodies on whole arrays."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) in SENDS and node.args:
            return node.args[0]
        if isinstance(node.func, ast.Call) and called(node.func) == "shard_map" and node.func.args:
            given = {k.arg: k.value for k in node.func.keywords}
            whole = ast.Call(node.func.args[0], node.args, [])
            if isinstance(out := given.get("out_specs"), ast.Call):
                place = ast.Call(ast.parse("jax.NamedSharding", mode="eval").body, [ast.Name("mesh", ast.Load()), out], [])
                return ast.Call(ast.parse("jax.lax.with_sharding_constraint", mode="eval").body, [whole, place], [])
            return whole
        return node


def _narrow(node: ast.expr) -> ast.expr:
    return ast.parse(f"({ast.unparse(node)}).astype('bfloat16').astype('float32')", mode="eval").body


DEVICES: dict[str, Operator] = {
    "collective dropped": collective_dropped, "collective doubled": collective_doubled,
    "collective swapped": collective_swapped, "scaled": scaled, "option dropped": argument_dropped,
    "dimension": other_dimension, "spec": spec_changed, "index": index_dropped, "size assumed": size_assumed,
    "direction": pair_turned, "mask": mask_forgotten, "dtype": narrower, "transposed": transposed,
    "gathered first": gathered_first, "sent for nothing": nothing_added, "left to the compiler": left_to_the_compiler,
    "axis": other_axis,
}  # fmt: skip
