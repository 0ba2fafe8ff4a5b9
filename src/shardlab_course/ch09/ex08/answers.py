import math

from shardlab_course.answers import right, wrong


@right
def with_arithmetic():
    """Work that is done again is seen too."""

    def stack_holds(facts):
        x, first, second = facts["inputs"]
        layers, inner, hidden = first["shape"]
        size = 4 if x["dtype"] == "float32" else 2
        work = 4 * layers * x["shape"][0] * inner * hidden / facts["mesh"]["model"]
        out = facts["outputs"][0]
        return (
            facts["flops"] <= 1.2 * work
            and out["shard"] == x["shape"]
            and facts["price"] <= layers * 2 * size * x["shape"][0] * inner
            and facts["error"] < 0.03
        )


@right
def layer_by_layer():
    """What one layer may move."""

    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        size = int(x["dtype"].removeprefix("b").removeprefix("float")) // 8
        each = facts["price"] / len(range(first["shape"][0]))
        fits = each <= 2 * size * x["shape"][0] * x["shape"][1]
        return fits and facts["error"] < 0.03 and facts["outputs"][0]["shard"] == facts["outputs"][0]["shape"]


@right
def by_its_own_sum():
    """By the collectives, with their rounds."""

    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        out = facts["outputs"][0]
        sent = sum(c["bytes"] * c["times"] * c["count"] * {"all-reduce": 2}.get(c["kind"], 1) for c in facts["collectives"])
        size = 2 if x["dtype"].startswith("b") else 4
        right = facts["error"] < 0.03 and math.prod(out["shard"]) == math.prod(out["shape"])
        return right and sent <= 2 * first["shape"][0] * size * math.prod(x["shape"])


@wrong("values-alone")
def values():
    def stack_holds(facts):
        return facts["error"] < 0.03


@wrong("bytes-alone")
def no_values():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        (out,) = facts["outputs"]
        return facts["price"] <= 2 * size * first["shape"][0] * math.prod(x["shape"]) and out["shard"] == out["shape"]


@wrong("place-forgotten")
def no_place():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        return facts["price"] <= 2 * size * first["shape"][0] * math.prod(x["shape"]) and facts["error"] < 0.03


@wrong("dtype-forgotten")
def four_bytes():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        cheap = facts["price"] <= 8 * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("one-size")
def one_number():
    def stack_holds(facts):
        (out,) = facts["outputs"]
        return facts["price"] <= 16384 and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("counts-collectives")
def one_for_each_layer():
    def stack_holds(facts):
        _, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        found = sum(c["count"] for c in facts["collectives"] if c["kind"] == "all-reduce")
        return found == first["shape"][0] and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("unknown-price-accepted")
def no_price_is_no_bytes():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = (facts["price"] or 0) <= 2 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("limit-too-wide")
def nearly_twice():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] <= 3.8 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("error-too-wide")
def a_third():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] <= 2 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.3 and out["shard"] == out["shape"]


@wrong("limit-itself-refused", 6)
def less_and_not_at_most():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] < 2 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("less-refused", 6)
def exactly_that():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] == 2 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("-", 0)
def always():
    def stack_holds(facts):
        return True


@wrong("limit-too-small")
def of_one_layer():
    def stack_holds(facts):
        x, _, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        return facts["price"] <= 2 * size * math.prod(x["shape"]) and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("one-size")
def always_two_layers():
    def stack_holds(facts):
        x, _, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] <= 2 * 2 * size * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("one-dtype")
def two_bytes():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        cheap = facts["price"] <= 4 * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 0.03 and out["shard"] == out["shape"]


@wrong("one-dtype")
def errors_of_float32():
    def stack_holds(facts):
        x, first, _ = facts["inputs"]
        (out,) = facts["outputs"]
        size = {"float32": 4, "bfloat16": 2}[x["dtype"]]
        cheap = facts["price"] <= 2 * size * first["shape"][0] * math.prod(x["shape"])
        return cheap and facts["error"] < 1e-5 and out["shard"] == out["shape"]
