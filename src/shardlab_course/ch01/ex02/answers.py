import math

import jax.numpy as jnp

from shardlab_course.answers import right, wrong


def named(spec):
    entries = [entry if isinstance(entry, list) else [entry] for entry in spec]
    return [axis for entry in entries for axis in entry if axis is not None]


@right
def another_way():
    def bytes_per_device(shape, dtype, mesh, spec):
        whole = math.prod(shape) * jnp.dtype(dtype).itemsize
        return whole // math.prod(mesh[axis] for axis in named(spec))

    def bytes_total(shape, dtype, mesh, spec):
        return bytes_per_device(shape, dtype, mesh, spec) * math.prod(mesh.values())


@wrong("adds-copies", 2.25)
def adds_copies():
    """The unmentioned axes are added."""

    def bytes_total(shape, dtype, mesh, spec):
        others = [size for axis, size in mesh.items() if axis not in named(spec)]
        return math.prod(shape) * jnp.dtype(dtype).itemsize * (sum(others) or 1)


@wrong("copies-everything", 2.25)
def copies_everything():
    """The total is a whole array for each device."""

    def bytes_total(shape, dtype, mesh, spec):
        return math.prod(shape) * jnp.dtype(dtype).itemsize * math.prod(mesh.values())


@wrong("divides-by-every-axis", 0)
def divides_by_every_axis():
    """Both halves as if everything were fully sharded."""

    def bytes_per_device(shape, dtype, mesh, spec):
        return math.prod(shape) * jnp.dtype(dtype).itemsize // math.prod(mesh.values())


@wrong("elements-for-bytes", 0)
def elements_for_bytes():
    """The size of an element is forgotten in both."""

    def bytes_per_device(shape, dtype, mesh, spec):
        return math.prod(shape) // math.prod(mesh[axis] for axis in named(spec))


@right
def floats():
    """True division gives floats of the same value."""

    def bytes_per_device(shape, dtype, mesh, spec):
        whole = math.prod(shape) * jnp.dtype(dtype).itemsize
        return whole / math.prod(mesh[axis] for axis in named(spec))


@wrong("forgets-replicas", 2.25)
def forgets_replicas():
    """The total is the array once."""

    def bytes_total(shape, dtype, mesh, spec):
        return math.prod(shape) * jnp.dtype(dtype).itemsize


@wrong("four-bytes-always", 0)
def four_bytes_always():
    """Four bytes an element, whatever the dtype."""

    def bytes_per_device(shape, dtype, mesh, spec):
        parts = 1
        for entry in spec:
            for axis in [] if entry is None else [entry] if isinstance(entry, str) else entry:
                parts *= mesh[axis]
        return 4 * math.prod(shape) // parts


@wrong("forgets-replicas", 0)
def fully_sharded_total():
    """The same answer, seen in the total."""

    def bytes_per_device(shape, dtype, mesh, spec):
        return math.prod(shape) * jnp.dtype(dtype).itemsize // math.prod(mesh.values())


@wrong("-", 2.25)
def half_done():
    """The total is not written yet."""

    def bytes_total(shape, dtype, mesh, spec):
        return ...


@wrong("list-as-axis", 0)
def list_as_axis():
    """A list of axes is looked up in the mesh."""

    def bytes_per_device(shape, dtype, mesh, spec):
        parts = math.prod(mesh[entry] for entry in spec if entry is not None)
        return math.prod(shape) * jnp.dtype(dtype).itemsize // parts


@right
def measured():
    """JAX's own answer: shard shapes on a mesh without devices."""
    import jax
    from jax.sharding import AbstractMesh, AxisType, NamedSharding

    def bytes_per_device(shape, dtype, mesh, spec):
        abstract = AbstractMesh(tuple(mesh.values()), tuple(mesh), axis_types=(AxisType.Auto,) * len(mesh))
        entries = [tuple(entry) if isinstance(entry, list) else entry for entry in spec]
        shard = NamedSharding(abstract, jax.P(*entries)).shard_shape(tuple(shape))
        return math.prod(shard) * jnp.dtype(dtype).itemsize


@wrong("tuple-cuts-once", 0)
def tuple_cuts_once():
    """Of a tuple only the first axis is used."""

    def bytes_per_device(shape, dtype, mesh, spec):
        parts = 1
        for entry in spec:
            if entry:
                parts *= mesh[entry[0] if isinstance(entry, list) else entry]
        return math.prod(shape) * jnp.dtype(dtype).itemsize // parts


@right
def table_of_sizes():
    """Bytes of an element by a table of the names that the exercise gives."""
    SIZES = {"bool": 1, "int8": 1, "bfloat16": 2, "float16": 2, "int32": 4, "float32": 4, "complex64": 8}

    def bytes_per_device(shape, dtype, mesh, spec):
        parts = 1
        for entry in spec:
            for axis in [entry] if isinstance(entry, str) else entry or []:
                parts *= mesh[axis]
        elements = 1
        for size in shape:
            elements *= size
        return elements // parts * SIZES[dtype]


@wrong("stops-at-spec", 0)
def as_long_as_the_spec():
    """Shape and spec side by side end with the shorter."""

    def bytes_per_device(shape, dtype, mesh, spec):
        held = jnp.dtype(dtype).itemsize
        for size, entry in zip(shape, spec):
            for axis in [entry] if isinstance(entry, str) else entry or []:
                size //= mesh[axis]
            held *= size
        return held

    def bytes_total(shape, dtype, mesh, spec):
        devices = 1
        for size in mesh.values():
            devices *= size
        return devices * bytes_per_device(shape, dtype, mesh, spec)


@wrong("-", 0)
def asks_the_laboratory():
    """The laboratory's index maps say it."""
    from shardlens import place

    def bytes_per_device(shape, dtype, mesh, spec):
        placed = place(tuple(shape), tuple(mesh.items()), tuple(tuple(e) if isinstance(e, list) else e for e in spec))
        held = jnp.dtype(dtype).itemsize
        for size in placed.shard_shape:
            held *= size
        return held

    def bytes_total(shape, dtype, mesh, spec):
        devices = 1
        for size in mesh.values():
            devices *= size
        return devices * bytes_per_device(shape, dtype, mesh, spec)


@wrong("first-and-last-of-tuple", 0)
def first_and_last():
    """Of a tuple the first and the last axis are used."""

    def bytes_per_device(shape, dtype, mesh, spec):
        held = math.prod(shape) * jnp.dtype(dtype).itemsize
        for entry in spec:
            if isinstance(entry, str):
                held //= mesh[entry]
            elif entry:
                held //= mesh[entry[0]] * mesh[entry[-1]]
        return held
