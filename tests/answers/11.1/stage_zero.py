# failed: stage-ignored
# points: 2
def ledger(parameters, devices, stage, mixed):
    each = {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)} if mixed else {
        "weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
    return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}


def largest(memory, devices, stage, mixed):
    return memory // sum(ledger(1, 1, 0, mixed).values())
