# points: 26
# Everything right: the honest neighbour.
# %% * = solution
