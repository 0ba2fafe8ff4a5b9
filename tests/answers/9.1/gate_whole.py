# failed: gate-cut-otherwise
# points: 4
import jax

import shardlab as sl

P = jax.P

predictions = sl.predict("9.1", collective="all-gather", factor=4)
plain = {"X": P(), "W1": P(None, "model"), "W2": P("model", None)}
gated = {"X": P(), "Wg": P(), "Wu": P(None, "model"), "Wd": P("model", None)}
