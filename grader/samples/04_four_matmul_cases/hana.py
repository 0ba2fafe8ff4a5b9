# points: 0
# reason: not attempted
# Handed in as it was released.
