# points: 46.25
# reason: 4.2
# Multiplies with NumPy, which cannot be exported.
# %% * = solution
# %% q4-2-answer
import numpy as np


def case_1(mesh, A, B):
    return jnp.asarray(np.asarray(A) @ np.asarray(B))


case_2 = case_3 = case_4 = case_1
