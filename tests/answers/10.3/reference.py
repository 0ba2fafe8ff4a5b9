# passed
import shardlab as sl

sl.predict("10.3", unchecked={'a': 'right', 'b': 'own', 'c': 'own', 'd': 'right', 'e': '8 times'})
