import shardlab as sl
from shardlab_course.answers import right, told, wrong


@right
def another_way():
    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("adds-latency", 6)
def adds_latency():
    """A hop as the sum."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = chip["hop"] + 2 * moved / n / chip["link"]
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("all-reduce-is-one", 6)
def all_reduce_is_one():
    """An all-reduce in one pass."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 1, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@right
def blocks():
    """Blocks as shapes, and the collectives of the course's own instrument."""
    from shardlens import alphabeta

    def size(*shape):
        bytes = 2
        for length in shape:
            bytes *= length
        return bytes

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        ring = {"n": n, "bandwidth": chip["link"], "latency": chip["hop"]}
        cut = layer["moves"] in ("reduce", "scatter")
        X, W, Y = ((B, D // n), (D // n, F), (B, F)) if cut else ((B // n, D), (D, F), (B // n, F))
        moving = {
            "nothing": lambda: 0,
            "gather": lambda: alphabeta.all_gather(size(*W), **ring),
            "reduce": lambda: alphabeta.all_reduce(size(*Y), **ring),
            "scatter": lambda: alphabeta.reduce_scatter(size(*Y), **ring),
        }
        return {
            "compute": 2 * X[0] * X[1] * W[1] / chip["flops"],
            "memory": (size(*X) + size(*W) + size(*Y)) / chip["hbm"],
            "communication": moving[layer["moves"]](),
        }


@wrong("moves-in-half-the-time", 6)
def both_links():
    """The bandwidth of both directions."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / (2 * chip["link"]))
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("elements-for-bytes", 6)
def elements_for_bytes():
    """Elements counted as bytes."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("elements-for-bytes", 6)
def elements_in_memory():
    """Bytes in what moves, elements in memory."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("shard-for-array", 6)
def gathered_shard():
    """A gather counted from a shard of W."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F / n, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("gathered-weights-not-read", 6)
def gathered_weights_not_read():
    """A chip reads its shard of W after the gather."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            whole = D * F if layer["moves"] == "nothing" else D * F / n
            numbers = B / n * D + whole + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@told("latency-forgotten")
def latency_forgotten():
    """Hops forgotten: the small layer is thought to wait for memory."""
    bound["f"] = "memory"
    sl.predict("2.5", bound=bound)


@told("memory-for-many-rows")
def memory_for_many_rows():
    """W is large, so the first is thought to wait for memory."""
    bound["a"] = "memory"
    sl.predict("2.5", bound=bound)


@told("more-rows-help")
def more_rows_help():
    """65,536 rows are thought to be enough for anything."""
    bound["e"] = "compute"
    sl.predict("2.5", bound=bound)


@wrong("multiplications-only", 6)
def multiplications_only():
    """Additions not counted."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@told("no-collective-no-wait")
def no_collective_no_wait():
    """Without a collective a layer is thought to be bound by compute."""
    bound["b"] = "compute"
    sl.predict("2.5", bound=bound)


@wrong("no-latency", 6)
def no_latency():
    """Hops take no time of their own."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = 2 * moved / n / chip["link"]
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("one-way-only", 6)
def one_way_only():
    """One direction of the ring."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n - 1) * hop,
        }


@told("roof-of-memory")
def roof_of_memory():
    """1,024 rows are above 240, so compute."""
    bound["c"] = "compute"
    sl.predict("2.5", bound=bound)


@told("rows-do-not-help")
def rows_do_not_help():
    """Who gathers is thought to wait, always."""
    bound["d"] = "communication"
    sl.predict("2.5", bound=bound)


@wrong("sum-cut-too-early", 6)
def sum_cut_too_early():
    """Y as the table has it after the reduce-scatter."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F / (n if layer["moves"] == "scatter" else 1)
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@told("waits-for-nothing")
def waits_for_nothing():
    """A layer without a collective is thought to wait for one."""
    bound["b"] = "communication"
    sl.predict("2.5", bound=bound)


@wrong("whole-arrays-in-memory", 6)
def whole_arrays_in_memory():
    """Whole arrays for blocks."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        numbers = B * D + D * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("time-grows-with-n", 6)
def whole_hops():
    """Every hop carries the whole array."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F / n
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("work-not-divided", 6)
def work_not_divided():
    """Every chip does all the work."""

    def layer_seconds(layer, chip):
        B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
        flops = 2 * B * D * F
        if layer["moves"] in ("nothing", "gather"):
            numbers = B / n * D + D * F + B / n * F
        else:
            numbers = B * D / n + D / n * F + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": flops / chip["flops"],
            "memory": 2 * numbers / chip["hbm"],
            "communication": passes * (n // 2) * hop,
        }


@wrong("-", 6)
def half_a_hop():
    """n / 2 hops, also of an odd ring."""

    def layer_seconds(layer, chip):
        B, D, F, n = (layer[name] for name in ("B", "D", "F", "n"))
        rows = layer["moves"] in ("nothing", "gather")
        blocks = B / n * D + D * F + B / n * F if rows else B * D / n + D * F / n + B * F
        moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
        passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
        hop = max(chip["hop"], 2 * moved / n / chip["link"])
        return {
            "compute": 2 * B * D * F / n / chip["flops"],
            "memory": 2 * blocks / chip["hbm"],
            "communication": passes * n / 2 * hop,
        }
