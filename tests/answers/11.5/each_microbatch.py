# failed: everything-each-microbatch
# points: 0.5
import shardlab as sl

sl.predict("11.5", ratio=1.5)


def traffic(weight_bytes, devices, plan, microbatches):
    passes = 3 if plan == "fsdp, gathered again" else 2
    return microbatches * passes * weight_bytes * (devices - 1) / devices
