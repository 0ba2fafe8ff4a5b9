# failed: four-bytes-always
# points: 0
"""Four bytes an element, whatever the dtype."""

import math


def bytes_per_device(shape, dtype, mesh, spec):
    parts = 1
    for entry in spec:
        for axis in [] if entry is None else [entry] if isinstance(entry, str) else entry:
            parts *= mesh[axis]
    return 4 * math.prod(shape) // parts


def bytes_total(shape, dtype, mesh, spec):
    return bytes_per_device(shape, dtype, mesh, spec) * math.prod(mesh.values())
