# failed: precisions-swapped
# points: 0
def ledger(parameters, devices, stage, mixed):
    weights, slopes, state = (2, 2, 12) if not mixed else (4, 4, 8)
    return {
        "weights": parameters * weights // (devices if stage >= 3 else 1),
        "gradients": parameters * slopes // (devices if stage >= 2 else 1),
        "optimizer": parameters * state // (devices if stage >= 1 else 1),
    }


def largest(memory, devices, stage, mixed):
    return memory * devices // sum(ledger(devices, devices, stage, mixed).values())
