# points: 29.25
# reason: not attempted
# Ran out of time: 4.4 and 4.5 untouched, one program of 4.6 not written.
# %% q4-1-answer = solution
# %% q4-2-answer = solution
# %% q4-3-answer = solution
# %% q4-6-answer = solution
def block_by_row(mesh, A, B):
    return ...  # TODO
