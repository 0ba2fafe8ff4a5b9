# points: 24
# Everything right: the honest neighbour.
# %% * = solution
