# passed
import shardlab as sl

sl.predict("11.5", ratio=1.5)


def traffic(weight_bytes, devices, plan, microbatches):
    gather = scatter = weight_bytes / devices * (devices - 1)
    if plan in ("data parallel", "zero-1"):
        return scatter + gather
    if plan == "zero-2":
        return microbatches * scatter + gather
    again = plan.endswith("again")
    return sum(gather + again * gather + scatter for _ in range(microbatches))
