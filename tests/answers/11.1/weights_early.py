# failed: weights-cut-in-stage-2
# points: 1
def right(parameters, devices, stage, mixed):
    each = {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)} if mixed else {
        "weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
    return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}


def ledger(parameters, devices, stage, mixed):
    parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (2, 2, 1))
    return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}


def largest(memory, devices, stage, mixed):
    return memory * devices // sum(right(devices, devices, stage, mixed).values())
