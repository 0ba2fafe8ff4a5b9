# points: 52
# reason: did not end within 15 s of CPU time
# The cell of 4.1 never ends; everything else is right and counts.
# %% * = solution
# %% q4-1-answer
guess = 0
while guess not in (1, 2, 3, 4):
    guess = -abs(guess)


def classify(subscripts, left, right):
    return guess
