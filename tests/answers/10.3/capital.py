# passed
import jax

import shardlab as sl

P = jax.P
sl.predict("10.3", unchecked={"a": "Right", "b": "Own", "c": "own", "d": "right", "e": "8 times"})
