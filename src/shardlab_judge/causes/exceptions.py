"""Causes of the exceptions that any question may meet, by what Python and JAX 0.10 and 0.12 say."""

from __future__ import annotations

import re

from shardlab_judge.question import Misconception, WrongProgram

TABLE = (
    ("host-callback",
     "host_callback",
     "It calls back into Python; a graded program must be JAX all the way. Remove the callback."),
    ("laboratory-called",
     "^LaboratoryCalled",
     "Shardlab has this function already; the exercise is to write it, from Python, NumPy and JAX."),
    ("a-call-for-a-function",
     r"^TypeError: .* is an? (\w+); it should be a function",
     "What stands there is no function. Give its name alone: with parentheses and arguments behind it is a call, and "
     "its result is given."),
    ("no-such-name",
     r"^AttributeError: module '([\w.]+)' has no attribute '(\w+)'",
     r"\1 has nothing called '\2': it is misspelt, or of another version."),
    ("other-entries",
     "^LookupError: no such entry in",
     "A key is written otherwise than in the exercise."),
    ("other-arguments",
     r"^TypeError: (\S+)\(\) (?:takes \d+ positional arguments? but \d+ (?:was|were) given|missing \d+ required positional)",
     r"`\1` was called with arguments that it does not accept. Keep those of the exercise's function. The body of "
     "jax.shard_map has one for each of in_specs."),
    ("spec-alone",
     r"^TypeError: (?:P|PartitionSpec) has no sharding\n",
     "A spec alone names no devices: jax.NamedSharding(mesh, spec) does."),
    ("no-sharding",
     r"^TypeError: (?!P |PartitionSpec )(\w+) has no sharding\n",
     r"A \1 lies nowhere. A jax.NamedSharding(mesh, jax.P(...)) is asked for, or an array that was put on one by "
     "jax.device_put."),
    ("numpy-inside",
     "^TracerArrayConversionError",
     "NumPy cannot work on traced arrays; use jax.numpy inside the function."),
    ("python-branch",
     "^TracerBoolConversionError",
     "Python's `if`, `and`, `not`, `max` or `bool` needs a value, and a traced array has none yet; use jnp.where, "
     "jnp.maximum or lax.cond."),
    ("traced-index",
     "^TracerIntegerConversionError",
     "A traced array has a shape and a dtype, and no value before the program runs; range(), a list's index and a "
     "shape need one. Sizes are in x.shape and mesh.shape; lax.fori_loop and jnp.take go by traced numbers."),
    ("traced-slice",
     r"^IndexError: (?:Slice entries must be static integers|Array slice indices must have static).*Tracer",
     "The ends of a slice are traced here, and Python's slices need numbers. For `w` elements from a traced start write "
     "jax.lax.dynamic_slice_in_dim(array, start, w)."),
    ("no-whole-index",
     "^TypeError: (?:Indexer must have integer or boolean type|'float' object cannot be interpreted as an integer)|"
     "^IndexError: only integers, slices|"
     "^IndexError: Slice entries must be static integers(?!.*Tracer)",
     "An index, a slice's end or a count is no whole number: `/` gives a fraction, and `//` a whole number."),
    ("boolean-index",
     "^NonConcreteBooleanIndexError",
     "How many elements a condition picks would depend on values, and shapes must not. Use jnp.where(condition, x, "
     "0)."),
    ("needs-a-value",
     r"^ConcretizationTypeError|^TypeError: (?:unsupported format string passed to \w*Tracer|Shapes must be 1D sequences of "
     "concrete values.*Tracer)",
     "A traced array has a shape and a dtype, and no value before the program runs; float(), int(), .item(), "
     ".tolist(), a format and a shape need one. Stay with arrays, and take sizes from x.shape and mesh.shape."),
    ("kept-from-elsewhere",
     "^UnexpectedTracerError|^ValueError: Too many leaves for PyTreeDef|No constant handler for type.*Tracer",
     "A traced array outlived the call that made it: it was kept in a list, a dict, a default or a global. Return it "
     "instead."),
    ("assigned",
     "^TypeError: JAX arrays are immutable",
     "JAX arrays are not changed in place: x = x.at[i].set(value)."),
    ("axis-of-no-mesh",
     r"^ValueError: .*(in_specs|out_specs)(?:\[\d+\])? refers to '(\w+)'",
     r"\1 names the axis '\2', and the mesh has none of this name; build specs from the axes of the argument `mesh`."),
    ("axis-of-no-mesh",
     r"^ValueError: Resource axis: (\w+) of .* is not found in mesh: (\(.*?\))",
     r"The spec names the axis '\1', and the mesh has \2."),
    ("axis-twice",
     r"has duplicate entries for `(\w+)`",
     r"A spec names the mesh axis '\1' twice; each cuts one dimension at most."),
    ("other-mesh",
     "incompatible devices|AbstractMesh size|should match the (?:aval|context) mesh",
     "It uses other devices than those of the mesh that it is given; build shardings from the argument `mesh`."),
    ("too-large-a-mesh",
     r"^ValueError: Number of devices \d+ must be >=",
     "A mesh of its own is too large for the devices; use the argument `mesh`."),
    ("no-mesh-around",
     "requires a non-empty mesh in context|context mesh cannot be empty",
     "A spec alone has no mesh here. Write the mesh out: NamedSharding(mesh, P(...)). In jax.shard_map write mesh=mesh."),
    ("reshard-on-auto",
     "PartitionSpec passed to reshard cannot contain axis names that are of type Auto",
     "jax.reshard is for Explicit axes; along Auto axes write jax.lax.with_sharding_constraint(x, "
     "NamedSharding(mesh, spec))."),
    ("constraint-on-explicit",
     "passed to with_sharding_constraint can only refer to Auto axes",
     "Along Explicit axes a placement is part of the type: jax.reshard(x, spec) changes it."),
    ("set-mesh-inside",
     "`set_mesh` can only be used outside",
     "jax.set_mesh belongs outside of what is traced; the function is given its mesh."),
    ("pmapped",
     "_internal_pmap_axis_name",
     "jax.pmap takes one row for each device. Use jax.shard_map over the argument `mesh`."),
    ("uneven-blocks",
     r"^(?!.*_internal_pmap_axis_name).*(?:not evenly divisible|is not divisible by axis_size|does not "
     r"evenly divide the dimension|partitioned \d+ times)",
     "A dimension is cut by a mesh axis that does not divide it: devices hold blocks of one shape. Cut another "
     "dimension, or pad."),
    ("specs-too-long",
     "(in_specs|out_specs) entry which is too long|only valid for values of rank at least",
     "A spec has more entries than its array has dimensions. Inside jax.shard_map each device sees its own block, of "
     "the rank of the whole; a sum over an axis needs keepdims=True to keep it."),
    ("count-of-specs",
     "pytree structure error.*shard_map (in_specs|out_specs)",
     r"\1 does not have the form of what it stands for: a tuple with one spec for each argument, or each output; one "
     "alone needs no tuple."),
    ("specs-of-another-kind",
     "shard_map (in_specs|out_specs) argument must be a pytree of",
     r"\1 holds something else than specs: write P('x', None), with P from jax."),
    ("promised-copies",
     "can't be statically inferred",
     "out_specs promises equal copies along a mesh axis on which the devices may hold different blocks."),
    ("varying-carry",
     "manual axis types do not match|varying manual axes",
     "What goes round a loop, or leaves a branch, is equal on all devices at one end and varies at the other: begin "
     "with jax.lax.pcast(start, axes, to='varying')."),
    ("unbound-axis",
     r"^\w+: .*\nsays (\w+): there is no axis ('[^\n]*'); the axes here are ([^\n]+)",
     r"\1 names the axis \2, and the axes here are \3: names are compared letter by letter."),
    ("sums-copies",
     r"^ValueError: \S*psum can only accept axis_name.*Got input type: [^{\n]*\{V:([\w,]+)\}, axes: \(([^)]*)\)",
     r"psum names the axes \2, and its argument differs only along \1. Along the other axis devices hold copies: added up, "
     "they would count several times. Name only the axes along which there are different terms."),
    ("untiled-gather",
     r"^TypeError: dot_general requires contracting dimensions.*\nat [^\n]*all_gather\((?![^\n]*tiled=True)",
     "all_gather without tiled=True stacks the blocks in a new dimension, and the product meets that one. tiled=True puts "
     "them side by side along the dimension `axis`."),
    ("unbound-axis",
     "^NameError: .*[Uu]nbound axis name",
     "A collective names an axis that no jax.shard_map around it has."),
    ("not-a-permutation",
     r"^ValueError: .*sources and destinations must be unique|"
     r"^IndexError: (?:list|tuple) index out of range\nat (?:\w+\.)*ppermute\(",
     "Each device sends to one device, and gets from one: pairs (source, destination), each number once."),
    ("scattered-unevenly",
     "reduce_scatter operand scatter dimension|all_to_all requires the size",
     "The dimension that is dealt out must have one slice for each device of the axis; with tiled=True it must be a "
     "multiple."),
    ("old-shard-map",
     r"shard_map\(\) (?:got an unexpected keyword argument '(?:check_rep|auto)'|takes from)",
     "jax.shard_map takes names, mesh=, in_specs=, out_specs=; check_rep is check_vma today, and auto= is "
     "axis_names=."),
    ("shapes-do-not-fit",
     r"^(?:TypeError|ValueError): (?!.*\nat [^\n]*all_gather\((?![^\n]*tiled=True)).*"
     "(?:incompatible shapes for broadcasting|requires contracting dimensions to "
     "have the same shape|cannot reshape array|must have the same shape|Cannot concatenate arrays)",
     "The shapes of two operands do not fit, or a size is not what it was taken for. Inside jax.shard_map each "
     "device sees its own block, not the whole."),
    ("gradient-of-many",
     "^TypeError: Gradient only defined for scalar-output",
     "jax.grad needs a function that returns one number: sum or mean the loss."),
    ("nothing-returned",
     r"^TypeError: (?:the function returned None\n|.*'NoneType'.*not a valid JAX type)",
     "It returns None: `return` is missing, in it or in the body that it maps."),
    ("function-returned",
     r"^TypeError: .*'(?:function|jaxlib\S*Function)'.*not a valid JAX type",
     "It returns a function. Call what jax.jit returns with the arrays. Call what jax.shard_map returns, too."),
    ("nothing-there",
     "^(?:TypeError|AttributeError): (?!.*not a valid JAX type).*'NoneType'",
     "Something on this line is None: what made it ends without `return`, or changes in place."),
    ("not-jax-returned",
     r"^TypeError: (?!.*'(?:NoneType|function|jaxlib\S*Function)').*not a valid JAX type",
     "What it returns, or hands on, is no array: return arrays, or tuples of them."),
    ("not-defined",
     r"^(?:NameError|UnboundLocalError): (?!.*unbound axis).*'(\w+)'",
     r"Nothing is called '\1' where this runs: it is misspelt, or its cell was not run, or was deleted."),
    ("not-installed",
     r"^ModuleNotFoundError: No module named '([\w.]+)'",
     r"There is no module '\1' here: it is misspelt, or not installed."),
    ("without-end",
     "^RecursionError",
     "The function calls itself without an end."),
    ("left",
     "^SystemExit",
     "It ends Python instead of returning."),
    ("not-written-yet",
     "^NotImplementedError",
     "Something that this line calls is not written yet: in your code, or in JAX, as the message says."),
    ("too-many-indices",
     "^IndexError: [Tt]oo many indices",
     "There are more indices than the array has dimensions."),
    ("counted-too-far",
     r"^IndexError: (?:(?:list|tuple|string|range object)(?: assignment)? index out of range\nat (?!(?:\w+\.)*ppermute\()|"
     r"index -?\d+ is out of bounds|pop from empty list)",
     "An index lies behind the end: sizes count from 0, and a mesh, a ring or a spec may be smaller than here."),
    ("no-such-key",
     r"^KeyError: ([^\n]{1,60})",
     r"There is no entry \1 in the dict."),
    ("unpacked-otherwise",
     "^ValueError: .*values to unpack",
     "The left side has another number of names than the right side has values."),
    ("of-another-type",
     "^AttributeError: (?!module |'NoneType').*has no attribute|^TypeError: (?!.*'NoneType').*(?:is not subscriptable|"
     "indices must be|unsupported operand|is not iterable|must be .*, not |can't multiply|can only concatenate|"
     "cannot unpack non-iterable|not supported between)",
     "Something on this line is of another type than it is taken for."),
    ("called-no-function",
     "^TypeError: (?!.*'NoneType').*object is not callable",
     "What stands before the parentheses is no function; a name was given to something else, or `*` was left out."),
)  # fmt: skip
"""Id, what is found in the text, and the cause, with what the text says in its groups. At most one of them knows a text:
each pattern asks for the exception's type and for words that no other cause has."""


def likely(text: str, line: str = "") -> Misconception | None:
    """What is known of an exception.

    Args:
        text: its type and its message, `"KeyError: 'x'"`.
        line: where it was raised, as `shardlens.exceptions` tells it.
    """
    for id, pattern, said in TABLE:
        if found := re.search(pattern, seen(text, line), re.DOTALL):
            return WrongProgram(id, found.expand(said), error=pattern)
    return None


def seen(text: str, line: str = "") -> str:
    """What the table's patterns are found in: the text, what of the student's line was being run, and the last line."""
    return f"{text}\nat {_marked(line)}\nsays {line.rpartition(chr(10))[2]}"


def _marked(line: str) -> str:
    """The part of the second line that stands above carets."""
    _, shown, carets, *_ = [*line.split("\n"), "", "", ""]
    return shown[carets.index("^") : carets.rindex("^") + 1] if set(carets) <= {" ", "^"} and "^" in carets else ""
