# passed
# points: 3
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


def named(entry):
    return [] if entry is None else [entry] if isinstance(entry, str) else entry


def part(entry, at, mesh):
    shape = [mesh[a] for a in named(entry)]
    number = int(np.ravel_multi_index([at[a] for a in named(entry)], shape)) if shape else 0
    return number, int(np.prod(shape, dtype=int))


def emulate(body, mesh, in_specs, out_spec, arrays):
    made = {}
    for place in np.ndindex(*mesh.values()):
        at = dict(zip(mesh, place))
        blocks = []
        for array, spec in zip(map(np.array, arrays), in_specs):
            index = []
            for size, entry in zip(array.shape, spec):
                number, parts = part(entry, at, mesh)
                index.append(slice(number * size // parts, (number + 1) * size // parts))
            blocks.append(array[tuple(index)])
        result = np.asarray(bodies[body](*blocks))
        spec = list(out_spec) + [None] * (result.ndim - len(out_spec))
        made.setdefault(tuple(part(entry, at, mesh)[0] for entry in spec), result)
    ((_, first),) = itertools.islice(made.items(), 1)

    def join(prefix, dimension):
        if dimension == first.ndim:
            return made[prefix]
        numbers = sorted({key[dimension] for key in made})
        return np.concatenate([join((*prefix, k), dimension + 1) for k in numbers], dimension)

    return join((), 0)
