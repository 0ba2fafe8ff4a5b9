# passed
import optax


def clip(mesh, *arrays):
    rule = optax.clip_by_global_norm(12.0)
    return rule.update(arrays, rule.init(arrays))[0]
