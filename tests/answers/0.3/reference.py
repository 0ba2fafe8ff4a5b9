# passed
# points: 3.25
"""It multiplies."""

def product(mesh, A, B):
    return A @ B


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
