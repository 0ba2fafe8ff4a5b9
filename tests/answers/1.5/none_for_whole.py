# failed: none-for-whole
# points: 0
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
