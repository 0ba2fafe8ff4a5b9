# points: 26
# Everything right, as in the solution.
# %% * = solution
