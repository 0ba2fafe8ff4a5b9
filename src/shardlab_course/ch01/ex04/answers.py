import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("axis-used-twice")
def axis_used_twice():
    """An axis cuts two dimensions."""
    outcome["e"] = [4, 6]
    outcome["k"] = [1, 6]
    sl.predict("1.4", outcome=outcome)


@told("axis-used-twice")
def axis_used_twice_in_tuple():
    """An axis cuts two dimensions, once inside a tuple."""
    outcome["k"] = [1, 6]
    sl.predict("1.4", outcome=outcome)


@told("base-class-named")
def base_class_named():
    """The base class for uneven sizes."""
    outcome["b"] = "ValueError"
    outcome["c"] = "ValueError"
    outcome["f"] = "ValueError"
    sl.predict("1.4", outcome=outcome)


@wrong("class-for-name", 0)
def class_for_name():
    """The class instead of its name."""
    outcome["h"] = ValueError
    outcome["i"] = ValueError
    sl.predict("1.4", outcome=outcome)


@told("empty-spec-refused")
def empty_spec_refused():
    """An empty spec says nothing."""
    outcome["j"] = "ValueError"
    sl.predict("1.4", outcome=outcome)


@told("global-for-local")
def global_for_local():
    """Global shapes instead of local ones."""
    outcome["a"] = [8, 12]
    outcome["d"] = [8, 12]
    outcome["g"] = [10, 12]
    outcome["j"] = [1, 12]
    outcome["l"] = [4, 6, 8]
    sl.predict("1.4", outcome=outcome)


@told("global-for-local")
def global_for_local_elsewhere():
    """Global shapes in d and l."""
    outcome["d"] = [8, 12]
    outcome["l"] = [4, 6, 8]
    sl.predict("1.4", outcome=outcome)


@wrong("-", 1.75)
def half_done():
    """The second half is open."""
    outcome["g"] = ...
    outcome["h"] = ...
    outcome["i"] = ...
    outcome["j"] = ...
    outcome["k"] = ...
    outcome["l"] = ...
    sl.predict("1.4", outcome=outcome)


@wrong("-", 2.92)
def lookup_error_named():
    """As if something were looked up."""
    outcome["h"] = "IndexError"
    outcome["i"] = "KeyError"
    sl.predict("1.4", outcome=outcome)


@right
def measured():
    """What JAX says of the twelve."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding

    P = jax.P
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    candidates = {
        "a": ((8, 12), P("x", "y")),
        "b": ((1, 12), P("x")),
        "c": ((8, 12), P(None, ("x", "y"))),
        "d": ((8, 12), P(("x", "y"))),
        "e": ((8, 12), P("x", "x")),
        "f": ((10, 12), P("y")),
        "g": ((10, 12), P("x", "y")),
        "h": ((8, 12), P("x", "y", None)),
        "i": ((8, 12), P("z")),
        "j": ((8, 12), P()),
        "k": ((8, 12), P(("x", "y"), "x")),
        "l": ((4, 6, 8), P("y", None, "x")),
    }

    def attempt(shape, spec):
        try:
            array = jax.device_put(jnp.zeros(shape), NamedSharding(mesh, spec))
            return list(array.addressable_shards[0].data.shape)
        except Exception as error:
            return type(error).__name__

    sl.predict("1.4", outcome={name: attempt(*candidate) for name, candidate in candidates.items()})


@told("ragged-shards")
def ragged_shards():
    """The last shard is shorter."""
    outcome["b"] = [1, 12]
    outcome["c"] = [8, 2]
    outcome["f"] = [3, 12]
    sl.predict("1.4", outcome=outcome)


@told("spec-too-long")
def spec_too_long():
    """A None too many does no harm."""
    outcome["h"] = [4, 3]
    sl.predict("1.4", outcome=outcome)


@told("unknown-axis-ignored")
def unknown_axis_ignored():
    """An unknown axis cuts nothing."""
    outcome["i"] = [8, 12]
    sl.predict("1.4", outcome=outcome)


@told("refusal-of-another-kind")
def unknown_name_is_indivisible():
    """A name that the mesh does not have, as if its size were asked for."""
    sl.predict("1.4", outcome={**outcome, "i": "IndivisibleError", "h": "DuplicateSpecError"})


@told("divides-before-twice")
def twice_is_a_plain_error():
    """The class of other faults for an axis that is named twice."""
    sl.predict("1.4", outcome={**outcome, "e": "ValueError", "k": "IndivisibleError"})


@wrong("-", 2.92)
def misspelt_entry():
    """An entry under another name, and one that is open."""
    sl.predict(
        "1.4", outcome={("A" if key == "a" else key): (None if key == "l" else value) for key, value in outcome.items()}
    )
