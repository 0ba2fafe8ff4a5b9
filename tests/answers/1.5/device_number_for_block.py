# failed: device-number-for-block
# points: 0
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
