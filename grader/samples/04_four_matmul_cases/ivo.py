# points: ungraded
# reason: not a notebook:
# Hands in a letter under the notebook's name.
# %% raw
# Dear Professor, my notebook is in the cloud. The link is below.
