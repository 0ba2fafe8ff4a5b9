import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("as-much")
def as_much():
    sl.predict("11.5", ratio=1)


@wrong("everything-each-microbatch", 2)
def each_microbatch():
    def traffic(weight_bytes, devices, plan, microbatches):
        passes = 3 if plan == "fsdp, gathered again" else 2
        return microbatches * passes * weight_bytes * (devices - 1) / devices


@wrong("of-all-devices", 2)
def everybody():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1)


@wrong("two-of-three-passes", 2)
def kept():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 2 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@wrong("kept-over-microbatches", 2)
def kept_long():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 1 + k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@wrong("microbatches-ignored", 2)
def no_microbatches():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = 1
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@right
def one_by_one():
    def traffic(weight_bytes, devices, plan, microbatches):
        gather = scatter = weight_bytes / devices * (devices - 1)
        if plan in ("data parallel", "zero-1"):
            return scatter + gather
        if plan == "zero-2":
            return microbatches * scatter + gather
        again = plan.endswith("again")
        return sum(gather + again * gather + scatter for _ in range(microbatches))


@wrong("all-reduce-counted-once", 2)
def reduce_once():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 1,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@told("FSDP-3x")
def three_times():
    sl.predict("11.5", ratio=3)


@told("scatter-as-all-reduce")
def twice():
    sl.predict("11.5", ratio=2)


@told("other-way-round")
def upside_down():
    sl.predict("11.5", ratio=2 / 3)


@wrong("to-itself", 2)
def whole_ring():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes


@wrong("zero-1-three-times", 2)
def zero_one():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 3,
            "zero-2": 1 + k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@wrong("weights-each-microbatch", 2)
def zero_two():
    def traffic(weight_bytes, devices, plan, microbatches):
        k = microbatches
        passes = {
            "data parallel": 2,
            "zero-1": 2,
            "zero-2": 2 * k,
            "fsdp, weights kept": 2 * k,
            "fsdp, gathered again": 3 * k,
        }
        return passes[plan] * weight_bytes * (devices - 1) / devices


@wrong("two-of-three-passes", 2)
def scatter_forgotten():
    def traffic(weight_bytes, devices, plan, microbatches):
        one, k = weight_bytes * (devices - 1) / devices, microbatches
        gathers = {"fsdp, weights kept": k, "fsdp, gathered again": 2 * k}.get(plan, 1)
        scatters = 0 if plan == "fsdp, gathered again" else 1 if plan in ("data parallel", "zero-1") else k
        return (gathers + scatters) * one
