# failed: stop-included
# points: 0.5
"""The last row instead of the stop."""

import shardlab as sl

sl.predict("1.3", rows_xy=[2, 3], rows_yx=[8, 9], moved=6)
