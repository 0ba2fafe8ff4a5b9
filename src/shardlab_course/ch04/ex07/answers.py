import math

from shardlab_course.answers import right, wrong


@right
def adds_up_itself():
    """By the collectives, with their rounds."""

    def product_holds(facts):
        out = facts["outputs"][0]
        sent = 0
        for c in facts["collectives"]:
            if c["times"] is None:
                return False
            sides = {"reduce-scatter": facts["mesh"]["x"], "all-reduce": 2}
            sent += c["bytes"] * c["times"] * c["count"] * sides.get(c["kind"], 1)
        if facts["error"] > 1e-5 or out["shard"] != out["shape"]:
            return False
        return sent <= 8 * out["shape"][0] * out["shape"][1]


@right
def from_the_inputs():
    """What is right follows from what is multiplied."""

    def product_holds(facts):
        A, B = (i["shape"] for i in facts["inputs"])
        shape = [A[0], B[1]]
        if facts["outputs"][0]["shape"] != shape or facts["outputs"][0]["shard"] != shape:
            return False
        return facts["price"] <= 8 * math.prod(shape) and facts["error"] <= 1e-5


@right
def by_a_list_of_faults():
    """Reasons first, and none of them may be there."""

    def product_holds(facts):
        out, faults = facts["outputs"][0], []
        if not facts["error"] < 1e-5:
            faults.append("values")
        if math.prod(out["shard"]) < math.prod(out["shape"]):
            faults.append("place")
        if facts["price"] is None or facts["price"] > 2 * math.prod(out["shape"]) * 4:
            faults.append("bytes")
        return not faults


@right
def by_the_memory():
    """A whole output has all of its bytes on each device."""

    def product_holds(facts):
        whole = 4 * math.prod(facts["outputs"][0]["shape"])
        return facts["memory"]["output"] >= whole and facts["error"] < 1e-5 and facts["price"] <= 2 * whole


@wrong("values-alone")
def values():
    def product_holds(facts):
        return facts["error"] < 1e-5


@wrong("values-alone")
def values_and_place():
    def product_holds(facts):
        out = facts["outputs"][0]
        return facts["error"] < 1e-5 and out["shard"] == out["shape"]


@wrong("bytes-alone")
def bytes_and_place():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["price"] <= 8 * math.prod(out["shape"]) and out["shard"] == out["shape"]


@wrong("place-forgotten")
def no_place():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["price"] <= 8 * math.prod(out["shape"]) and facts["error"] < 1e-5


@wrong("rounds-forgotten")
def each_once():
    def product_holds(facts):
        (out,) = facts["outputs"]
        sides = {"reduce-scatter": facts["mesh"]["x"], "all-reduce": 2}
        sent = max([c["bytes"] * sides.get(c["kind"], 1) for c in facts["collectives"]], default=0)
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and sent <= 8 * math.prod(out["shape"])


@wrong("one-size")
def one_number():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and facts["price"] <= 768


@wrong("counts-collectives")
def one_all_reduce():
    def product_holds(facts):
        (out,) = facts["outputs"]
        found = [c["kind"] for c in facts["collectives"] for _ in range(c["count"])]
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and found == ["all-reduce"]


@wrong("counts-collectives")
def few_instructions():
    def product_holds(facts):
        (out,) = facts["outputs"]
        short = facts["instructions"] < 20
        return (
            facts["error"] < 1e-5
            and out["shard"] == out["shape"]
            and facts["price"] <= 8 * math.prod(out["shape"])
            and short
        )


@wrong("unknown-price-accepted")
def no_price_is_no_bytes():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return (
            facts["error"] < 1e-5 and out["shard"] == out["shape"] and (facts["price"] or 0) <= 8 * math.prod(out["shape"])
        )


@wrong("place-forgotten")
def rows_alone():
    def product_holds(facts):
        (out,) = facts["outputs"]
        whole = out["shard"][0] == out["shape"][0]
        return facts["error"] < 1e-5 and whole and facts["price"] <= 8 * math.prod(out["shape"])


@wrong("limit-too-wide")
def nearly_twice():
    def product_holds(facts):
        (out,) = facts["outputs"]
        limit = 1.9 * 8 * math.prod(out["shape"])
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and facts["price"] <= limit


@wrong("error-too-wide")
def a_percent():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["error"] < 1e-2 and out["shard"] == out["shape"] and facts["price"] <= 8 * math.prod(out["shape"])


@wrong("limit-itself-refused", 5.5)
def less_and_not_at_most():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and facts["price"] < 8 * math.prod(out["shape"])


@wrong("counts-collectives")
def no_gathers():
    def product_holds(facts):
        (out,) = facts["outputs"]
        gathers = any(c["kind"] == "all-gather" for c in facts["collectives"])
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and not gathers


@wrong("less-refused", 5.5)
def exactly_that():
    def product_holds(facts):
        (out,) = facts["outputs"]
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and facts["price"] == 8 * math.prod(out["shape"])


@wrong("-", 0)
def always():
    def product_holds(facts):
        return True


@wrong("-", 0)
def never():
    def product_holds(facts):
        return False


@wrong("-", 0)
def a_number():
    def product_holds(facts):
        return facts["price"]


@wrong("-", 0)
def another_key():
    def product_holds(facts):
        return facts["bytes"] < 1000


@wrong("limit-too-small")
def counted_once():
    def product_holds(facts):
        (out,) = facts["outputs"]
        cheap = facts["price"] is not None and facts["price"] <= 4 * math.prod(out["shape"])
        return facts["error"] < 1e-5 and out["shard"] == out["shape"] and cheap
