# passed
# points: 3.25
"""Through the transposes."""

def product(mesh, A, B):
    return (B.T @ A.T).T


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
