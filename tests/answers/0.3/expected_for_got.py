# failed: expected-for-got
# points: 2.75
"""The upper line is read."""

def product(mesh, A, B):
    return A @ B


report = {"values": "yes", "copies": 1, "moved": 0, "times": 8, "hint": 2}
