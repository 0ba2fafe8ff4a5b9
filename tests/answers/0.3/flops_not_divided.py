# failed: flops-not-divided
# points: 3
"""The FLOPs themselves."""

def product(mesh, A, B):
    return A @ B


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 65536, "hint": 2}
