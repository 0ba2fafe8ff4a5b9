# points: 60
# Everything right, as in the solution.
# %% * = solution
