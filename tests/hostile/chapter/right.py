# points: 60
# Everything right: the honest neighbour.
# %% * = solution
