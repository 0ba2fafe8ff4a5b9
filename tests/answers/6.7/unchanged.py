# failed: as-the-sum-leaves-it
# points: 1.5
import shardlab as sl

sl.predict("6.7", copies=4)


def fully_sharded(mesh, x):
    return x.sum(axis=0)
