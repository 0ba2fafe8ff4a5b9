import itertools

import numpy as np

from variants import right, wrong

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
        out[index] = made
    return out


@wrong("out-spec-ignored", 0)
def all_below_another():
    def emulate(body, mesh, in_specs, out_spec, arrays):
        out = []
        places = itertools.product(*(range(n) for n in mesh.values()))
        for place in places:
            at, blocks = dict(zip(mesh, place)), []
            for array, spec in zip(arrays, in_specs):
                for dimension, entry in enumerate(spec):
                    number, parts = block_of(entry, at, mesh)
                    array = np.split(np.asarray(array), parts, dimension)[number]
                blocks.append(np.asarray(array))
            made = np.asarray(bodies[body](*blocks))
            out.append(made)
        return np.concatenate(out)


@wrong("axis-order-free", 0)
def axis_order():
    def block_of(entry, at, mesh):
        axes = [entry] if isinstance(entry, str) else entry or []
        number, parts = 0, 1
        for axis in axes[::-1]:
            number = number * mesh[axis] + at[axis]
            parts = parts * mesh[axis]
        return number, parts


@right
def by_indices():
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


@wrong("last-copy-taken", 0)
def last_copy():
    def emulate(body, mesh, in_specs, out_spec, arrays):
        out = None
        places = itertools.product(*(range(n) for n in mesh.values()))
        for place in places:
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
            out[index] = made
        return out


@wrong("blocks-not-joined", 0)
def list_of_blocks():
    def emulate(body, mesh, in_specs, out_spec, arrays):
        out = []
        places = itertools.product(*(range(n) for n in mesh.values()))
        for place in places:
            at, blocks = dict(zip(mesh, place)), []
            for array, spec in zip(arrays, in_specs):
                for dimension, entry in enumerate(spec):
                    number, parts = block_of(entry, at, mesh)
                    array = np.split(np.asarray(array), parts, dimension)[number]
                blocks.append(np.asarray(array))
            made = np.asarray(bodies[body](*blocks))
            out.append(made)
        return out


@wrong("unmentioned-axis-sums", 0)
def sum_of_copies():
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


@wrong("body-sees-everything", 0)
def whole_arrays():
    def emulate(body, mesh, in_specs, out_spec, arrays):
        return bodies[body](*map(np.asarray, arrays))


@wrong("-", 0)
def products_in_bfloat16():
    """Two digits and a half: right for numbers up to 256."""
    import jax.numpy as jnp

    def product(a, b):
        return np.asarray(jnp.asarray(a, "bfloat16"), "float32") @ np.asarray(jnp.asarray(b, "bfloat16"), "float32")

    bodies["product"] = product
