# failed: unmentioned-axis-sums
# points: 0
import itertools

import numpy as np

bodies = {
    "double": lambda a: 2 * a,
    "transpose": lambda a: a.T,
    "row_sums": lambda a: a.sum(1, keepdims=True),
    "total": lambda a: a.sum(),
    "product": lambda a, b: a @ b,
    "outer": lambda a, b: np.outer(a, b),
}


def block_of(entry, at, mesh):
    axes = [entry] if isinstance(entry, str) else entry or []
    number, parts = 0, 1
    for axis in axes:
        number = number * mesh[axis] + at[axis]
        parts = parts * mesh[axis]
    return number, parts


def emulate(body, mesh, in_specs, out_spec, arrays):
    out = None
    places = itertools.product(*(range(n) for n in mesh.values()))
    for place in reversed(list(places)):
        at, blocks = dict(zip(mesh, place)), []
        for array, spec in zip(arrays, in_specs):
            for dimension, entry in enumerate(spec):
                number, parts = block_of(entry, at, mesh)
                array = np.split(np.asarray(array), parts, dimension)[number]
            blocks.append(np.asarray(array))
        made = np.asarray(bodies[body](*blocks))
        where = [block_of(entry, at, mesh) for entry in out_spec]
        where += [(0, 1)] * (made.ndim - len(where))
        if out is None:
            out = np.zeros([n * parts for n, (_, parts) in zip(made.shape, where)], made.dtype)
        index = tuple(slice(number * n, number * n + n) for n, (number, _) in zip(made.shape, where))
        out[index] += made
    return out
