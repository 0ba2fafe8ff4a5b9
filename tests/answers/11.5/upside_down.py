# failed: other-way-round
# points: 2
import shardlab as sl

sl.predict("11.5", ratio=2 / 3)


def traffic(weight_bytes, devices, plan, microbatches):
    k = microbatches
    passes = {"data parallel": 2, "zero-1": 2, "zero-2": 1 + k, "fsdp, weights kept": 2 * k, "fsdp, gathered again": 3 * k}
    return passes[plan] * weight_bytes * (devices - 1) / devices
