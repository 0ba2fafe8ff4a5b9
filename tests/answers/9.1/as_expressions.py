# passed
# points: 4.5
import jax

import shardlab as sl

P = jax.P

predictions = sl.predict("9.1", collective="all-gather", factor=4)
plain = {"X": P(None, None), "W1": "d f -> d f@model", "W2": "f d -> f@model d"}
gated = {"X": P(), "Wg": "d f -> d f@model", "Wu": "d f -> d f@model", "Wd": P("model")}
