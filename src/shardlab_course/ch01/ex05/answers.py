from shardlab_course.answers import right, wrong


@right
def another_way():
    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block])
        return slices


@wrong("device-number-for-block", 0)
def device_number_for_block():
    """Blocks by the number of the device."""

    def local_slice(coordinates, mesh, shape, spec):
        device = 0
        for axis, size in mesh.items():
            device = device * size + coordinates[axis]
        found = []
        for dimension, size in enumerate(shape):
            entry = spec[dimension] if dimension < len(spec) else None
            axes = [] if entry is None else [entry] if isinstance(entry, str) else entry
            parts = 1
            for axis in axes:
                parts *= mesh[axis]
            block = size // parts
            found.append([device % parts * block, device % parts * block + block])
        return found


@wrong("length-for-stop", 0)
def length_for_stop():
    """The block and how long it is."""

    def local_slice(coordinates, mesh, shape, spec):
        found = []
        for dimension, size in enumerate(shape):
            entry = spec[dimension] if dimension < len(spec) else None
            axes = [] if entry is None else [entry] if isinstance(entry, str) else entry
            number, parts = 0, 1
            for axis in axes:
                number, parts = number * mesh[axis] + coordinates[axis], parts * mesh[axis]
            found.append([number * (size // parts), size // parts])
        return found


@wrong("list-as-axis", 0)
def list_as_axis():
    """A list of axes is looked up in the mesh."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = list(spec) + [None] * (len(shape) - len(spec))
        slices = []
        for size, axis in zip(shape, entries):
            block = size // (1 if axis is None else mesh[axis])
            number = 0 if axis is None else coordinates[axis]
            slices.append([number * block, (number + 1) * block])
        return slices


@right
def measured():
    """JAX's own index map on real devices."""
    import math

    import jax
    import numpy as np
    from jax.sharding import AxisType, Mesh, NamedSharding

    def local_slice(coordinates, mesh, shape, spec):
        devices = np.array(jax.devices()[: math.prod(mesh.values())]).reshape(*mesh.values())
        entries = [tuple(entry) if isinstance(entry, list) else entry for entry in spec]
        sharding = NamedSharding(Mesh(devices, tuple(mesh), axis_types=(AxisType.Auto,) * len(mesh)), jax.P(*entries))
        mine = devices[tuple(coordinates[axis] for axis in mesh)]
        index = sharding.devices_indices_map(tuple(shape))[mine]
        return [part.indices(size)[:2] for part, size in zip(index, shape)]


@right
def narrowing():
    """Narrow the slice axis by axis; no block numbers."""

    def local_slice(coordinates, mesh, shape, spec):
        slices = [[0, size] for size in shape]
        for dimension, entry in enumerate(spec):
            for axis in entry if isinstance(entry, list) else [entry]:
                if axis is not None:
                    start, stop = slices[dimension]
                    width = (stop - start) // mesh[axis]
                    start += coordinates[axis] * width
                    slices[dimension] = [start, start + width]
        return slices


@wrong("none-for-whole", 0)
def none_for_whole():
    """None where nothing is cut."""

    def local_slice(coordinates, mesh, shape, spec):
        found = []
        for dimension, size in enumerate(shape):
            entry = spec[dimension] if dimension < len(spec) else None
            axes = [] if entry is None else [entry] if isinstance(entry, str) else entry
            number, parts = 0, 1
            for axis in axes:
                number, parts = number * mesh[axis] + coordinates[axis], parts * mesh[axis]
            block = size // parts
            found.append([number * block, number * block + block] if axes else None)
        return found


@wrong("parts-for-block", 0)
def parts_for_block():
    """The number of parts in place of the size of a block."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * parts, number * parts + block])
        return slices


@wrong("slice-objects", 0)
def slice_objects():
    """Slice objects instead of pairs."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append(slice(number * block, (number + 1) * block))
        return slices


@wrong("stop-included", 0)
def stop_included():
    """The stop is the last position held."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block - 1])
        return slices


@wrong("stops-at-spec", 0)
def stops_at_spec():
    """Dimensions behind the spec are missing."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block])
        return slices


@wrong("-", 0)
def sum_of_coordinates():
    """The coordinates of a tuple are added."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes:
                number += coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block])
        return slices


@wrong("tuple-cuts-once", 0)
def tuple_cuts_once():
    """Of a tuple only the first axis is used."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in axes[:1]:
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block])
        return slices


@wrong("tuple-order", 0)
def tuple_order():
    """The last axis of a tuple leads."""

    def local_slice(coordinates, mesh, shape, spec):
        entries = [entry if isinstance(entry, list) else [entry] if entry else [] for entry in spec]
        entries += [[]] * (len(shape) - len(entries))
        slices = []
        for size, axes in zip(shape, entries):
            number, parts = 0, 1
            for axis in reversed(axes):
                number = number * mesh[axis] + coordinates[axis]
                parts *= mesh[axis]
            block = size // parts
            slices.append([number * block, (number + 1) * block])
        return slices


@wrong("-", 0)
def asks_the_laboratory():
    """The laboratory's index maps say it."""
    from shardlens import place

    def local_slice(coordinates, mesh, shape, spec):
        device = 0
        for axis, size in mesh.items():
            device = device * size + coordinates[axis]
        spec = tuple(tuple(entry) if isinstance(entry, list) else entry for entry in spec)
        return dict(place(tuple(shape), tuple(mesh.items()), spec).shards)[device]


@wrong("first-and-last-of-tuple", 0)
def first_and_last():
    """Of a tuple the first and the last axis are used."""

    def local_slice(coordinates, mesh, shape, spec):
        slices = []
        for dimension, size in enumerate(shape):
            entry = spec[dimension] if dimension < len(spec) else None
            if entry is None:
                number, parts = 0, 1
            elif isinstance(entry, str):
                number, parts = coordinates[entry], mesh[entry]
            else:
                a, b = entry[0], entry[-1]
                number, parts = coordinates[a] * mesh[b] + coordinates[b], mesh[a] * mesh[b]
            slices.append([number * size // parts, (number + 1) * size // parts])
        return slices
