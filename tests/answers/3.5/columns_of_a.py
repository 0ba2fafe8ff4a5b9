# failed: another-dimension-cut
# points: 1.5
import jax

P = jax.P

free = {"A": P(("x", "y"), None), "B": P(), "C": P(), "D": P()}
one = {"A": P(None, ("x", "y")), "B": P(("x", "y"), None), "C": P(), "D": P()}
