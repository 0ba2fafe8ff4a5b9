# failed: loss-is-enough
# points: 2
import shardlab as sl

sl.predict("10.3", unchecked={'a': 'right', 'b': 'right', 'c': 'own', 'd': 'right', 'e': '8 times'})
