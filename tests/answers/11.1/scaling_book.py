# failed: another-books-ledger
# points: 1
def ledger(parameters, devices, stage, mixed):
    weights, slopes, state = (2, 0, 8) if mixed else (4, 4, 8)
    return {
        "weights": parameters * weights // (devices if stage >= 3 else 1),
        "gradients": parameters * slopes // (devices if stage >= 2 else 1),
        "optimizer": parameters * state // (devices if stage >= 1 else 1),
    }


def largest(memory, devices, stage, mixed):
    weights, slopes, state = (2, 2, 12) if mixed else (4, 4, 8)
    each = weights / (devices if stage > 2 else 1) + slopes / (devices if stage > 1 else 1)
    return int(memory / (each + state / (devices if stage else 1)))
