# failed: values-blamed
# points: 3
"""The report is read as if values were wrong."""

def product(mesh, A, B):
    return A @ B


report = {"values": "no", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
