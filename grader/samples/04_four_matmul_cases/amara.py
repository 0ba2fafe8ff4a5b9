# points: 24
# Everything right, as in the solution.
# %% * = solution
