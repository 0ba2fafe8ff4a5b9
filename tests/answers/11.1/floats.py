# passed
def each(devices, stage, mixed):
    weights, slopes, state = (2, 2, 12) if mixed else (4, 4, 8)
    if stage > 0:
        state /= devices
    if stage > 1:
        slopes /= devices
    if stage > 2:
        weights /= devices
    return weights, slopes, state


def ledger(parameters, devices, stage, mixed):
    sizes = (round(parameters * size) for size in each(devices, stage, mixed))
    return dict(zip(("weights", "gradients", "optimizer"), sizes))


def largest(memory, devices, stage, mixed):
    return memory / sum(each(devices, stage, mixed))
