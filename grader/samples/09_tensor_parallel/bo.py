# points: 23.5
# reason: not attempted
# Ran out of time after 9.4, which is half done: the prediction, and no program. One program of 9.5.
# %% q9-1-answer = solution
# %% q9-1-answer-2 = solution
# %% q9-2-answer = solution
def three_layers(mesh, X, W1, W2, W3):
    return ...  # TODO
# %% q9-3-answer = solution
# %% q9-3-answer-2 = solution
# %% q9-4-answer
sl.predict("9.4", price=1, activations=...)
# %% q9-5-answer-2 = solution
def drop_output(mesh, seed, Y):
    return ...  # TODO
