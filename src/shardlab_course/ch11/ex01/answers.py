from shardlab_course.answers import right, wrong


@right
def another_way():
    def ledger(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(ledger(devices, devices, stage, mixed).values())


@wrong("of-all-devices", 2.5)
def all_devices():
    def ledger(parameters, devices, stage, mixed):
        weights, slopes, state = (2, 2, 12) if mixed else (4, 4, 8)
        return {
            "weights": devices * parameters * weights // (devices if stage >= 3 else 1),
            "gradients": devices * parameters * slopes // (devices if stage >= 2 else 1),
            "optimizer": devices * parameters * state // (devices if stage >= 1 else 1),
        }

    def largest(memory, devices, stage, mixed):
        weights, slopes, state = (2, 2, 12) if mixed else (4, 4, 8)
        each = weights / (devices if stage > 2 else 1) + slopes / (devices if stage > 1 else 1)
        return int(memory / (each + state / (devices if stage else 1)))


@wrong("cut-in-every-stage", 2.5)
def always_cut():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (0, 0, 0))
        return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@right
def floats():
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


@wrong("gradients-cut-in-stage-1", 2.5)
def gradients_early():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (3, 1, 1))
        return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("never-cut", 2.5)
def never_cut():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (4, 4, 4))
        return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("float32-copy-forgotten", 2.5)
def no_copy():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 8) if mixed else (4, 4, 8), (3, 2, 1))
        return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("memory-is-shared", 4.5)
def one_memory():
    def largest(memory, devices, stage, mixed):
        return memory * devices // 16


@wrong("stages-are-not-cumulative", 2.5)
def one_thing_each():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (3, 2, 1))
        return {part: parameters * size // (devices if stage == only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("rounded-too-early", 4.5)
def rounded():
    def ledger(parameters, devices, stage, mixed):
        weights, slopes, state = (2, 2, 12) if mixed else (4, 4, 8)
        return {
            "weights": parameters * weights // (devices if stage >= 3 else 1),
            "gradients": parameters * slopes // (devices if stage >= 2 else 1),
            "optimizer": parameters * state // (devices if stage >= 1 else 1),
        }

    def largest(memory, devices, stage, mixed):
        return memory // max(1, sum(ledger(1, devices, stage, mixed).values()))


@wrong("another-books-ledger", 2.5)
def scaling_book():
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


@wrong("stage-ignored", 4.5)
def stage_zero():
    def largest(memory, devices, stage, mixed):
        return memory // sum(ledger(1, 1, 0, mixed).values())


@wrong("precisions-swapped", 0)
def swapped():
    def ledger(parameters, devices, stage, mixed):
        weights, slopes, state = (2, 2, 12) if not mixed else (4, 4, 8)
        return {
            "weights": parameters * weights // (devices if stage >= 3 else 1),
            "gradients": parameters * slopes // (devices if stage >= 2 else 1),
            "optimizer": parameters * state // (devices if stage >= 1 else 1),
        }


@wrong("weights-cut-in-stage-2", 2.5)
def weights_early():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (2, 2, 1))
        return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("wrong-order", 2.5)
def weights_first():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 2, 12) if mixed else (4, 4, 8), (1, 2, 3))
        return {part: parameters * size // (devices if stage >= only else 1) for part, size, only in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())


@wrong("gradients-in-float32", 2.5)
def wide_gradients():
    def right(parameters, devices, stage, mixed):
        each = (
            {"weights": (2, 3), "gradients": (2, 2), "optimizer": (12, 1)}
            if mixed
            else {"weights": (4, 3), "gradients": (4, 2), "optimizer": (8, 1)}
        )
        return {part: parameters * size // (devices if stage >= first else 1) for part, (size, first) in each.items()}

    def ledger(parameters, devices, stage, mixed):
        parts = zip(("weights", "gradients", "optimizer"), (2, 4, 12) if mixed else (4, 4, 8), (3, 2, 1))
        return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in parts}

    def largest(memory, devices, stage, mixed):
        return memory * devices // sum(right(devices, devices, stage, mixed).values())
