# failed: length-for-stop
# points: 0
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
