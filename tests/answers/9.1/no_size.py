# failed: same-size
# points: 4.25
import jax

import shardlab as sl

P = jax.P

predictions = sl.predict("9.1", collective="all-gather", factor=1)
plain = {"X": P(), "W1": P(None, "model"), "W2": P("model", None)}
gated = {"X": P(), "Wg": P(None, "model"), "Wu": P(None, "model"), "Wd": P("model", None)}
