# failed: somebody-sums
# points: 2
import shardlab as sl

sl.predict("10.3", unchecked={'a': 'right', 'b': 'own', 'c': '8 times', 'd': 'right', 'e': '8 times'})
