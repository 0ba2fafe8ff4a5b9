# failed: body-sees-everything
# points: 0

import numpy as np

bodies = {
    "double": lambda a: 2 * a,
    "transpose": lambda a: a.T,
    "row_sums": lambda a: a.sum(1, keepdims=True),
    "total": lambda a: a.sum(),
    "product": lambda a, b: a @ b,
    "outer": lambda a, b: np.outer(a, b),
}


def emulate(body, mesh, in_specs, out_spec, arrays):
    return bodies[body](*map(np.asarray, arrays))
