# failed: as-with-the-check
# points: 0.5
import shardlab as sl

sl.predict("10.3", unchecked={'a': '8 times', 'b': 'right', 'c': '8 times', 'd': 'right', 'e': '64 times'})
