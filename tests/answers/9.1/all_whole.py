# failed: weights-whole
# points: 3.5
import jax

import shardlab as sl

P = jax.P

predictions = sl.predict("9.1", collective="all-gather", factor=4)
plain = {"X": P(), "W1": P(), "W2": P()}
gated = {"X": P(), "Wg": P(None, "model"), "Wu": P(None, "model"), "Wd": P("model", None)}
