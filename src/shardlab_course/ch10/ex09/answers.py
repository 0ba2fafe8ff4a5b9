import math

from shardlab_course.answers import right, wrong


@right
def from_the_gradients():
    """Gradients have the bytes of the weights."""

    def gradients_hold(facts):
        numbers = sum(math.prod(g["shape"]) for g in facts["outputs"])
        whole = sum(math.prod(g["shard"]) for g in facts["outputs"]) == numbers
        return whole and facts["error"] < 1e-4 and facts["price"] <= 8 * numbers


@right
def by_the_memory():
    """Whole gradients have all of their bytes on each device."""

    def gradients_hold(facts):
        needed = 4 * sum(math.prod(w["shape"]) for w in facts["inputs"][:2])
        return facts["memory"]["output"] >= needed and facts["price"] <= 2 * needed and facts["error"] < 1e-4


@right
def one_by_one():
    """A return for each fault."""

    def gradients_hold(facts):
        if facts["error"] >= 1e-4:
            return False
        for gradient in facts["outputs"]:
            if gradient["shard"] != gradient["shape"]:
                return False
        W, b = facts["inputs"][0]["shape"], facts["inputs"][1]["shape"]
        return facts["price"] <= 2 * 4 * (W[0] * W[1] + b[0])


@wrong("values-alone")
def values():
    def gradients_hold(facts):
        return facts["error"] < 1e-4


@wrong("values-alone")
def values_and_place():
    def gradients_hold(facts):
        return facts["error"] < 1e-4 and all(g["shard"] == g["shape"] for g in facts["outputs"])


@wrong("bytes-alone")
def no_values():
    def gradients_hold(facts):
        return facts["price"] <= 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])


@wrong("place-forgotten")
def no_place():
    def gradients_hold(facts):
        return facts["error"] < 1e-4 and facts["price"] <= 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])


@wrong("rounds-forgotten")
def each_once():
    def gradients_hold(facts):
        sent = sum(2 * c["bytes"] * c["count"] for c in facts["collectives"] if c["kind"] == "all-reduce")
        sent += sum(c["bytes"] * c["count"] for c in facts["collectives"] if c["kind"] != "all-reduce")
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and sent <= 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])


@wrong("one-size")
def one_number():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] <= 1632


@wrong("counts-collectives")
def one_for_each_weight():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        found = sum(c["count"] * c["times"] for c in facts["collectives"])
        return facts["error"] < 1e-4 and whole and found <= 1


@wrong("unknown-price-accepted")
def no_price_is_no_bytes():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        allowed = 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and (facts["price"] or 0) <= allowed


@wrong("place-forgotten")
def first_output_alone():
    def gradients_hold(facts):
        first = facts["outputs"][0]
        allowed = 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-4 and first["shard"] == first["shape"] and facts["price"] <= allowed


@wrong("limit-too-wide")
def nearly_twice():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        allowed = 1.9 * 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] <= allowed


@wrong("error-too-wide")
def a_percent():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        allowed = 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-2 and whole and facts["price"] <= allowed


@wrong("limit-itself-refused", 6.5)
def less_and_not_at_most():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        allowed = 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] < allowed


@wrong("less-refused", 6.5)
def exactly_that():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] == 8 * sum(math.prod(g["shape"]) for g in facts["outputs"])


@wrong("-", 0)
def always():
    def gradients_hold(facts):
        return True


@wrong("limit-too-small")
def without_the_bias():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] <= 8 * math.prod(facts["inputs"][0]["shape"])


@wrong("values-alone")
def for_every_device():
    def gradients_hold(facts):
        whole = all(g["shard"] == g["shape"] for g in facts["outputs"])
        allowed = 8 * facts["mesh"]["data"] * sum(math.prod(g["shape"]) for g in facts["outputs"])
        return facts["error"] < 1e-4 and whole and facts["price"] <= allowed
