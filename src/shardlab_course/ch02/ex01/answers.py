import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("all-reduce-is-one")
def all_reduce_is_one():
    """An all-reduce is priced as one pass."""
    prices["b"] = 512
    prices["i"] = 128
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("axis-order-free")
def axis_order_free():
    """The order of axes in a tuple is thought not to matter."""
    kinds["f"] = "none"
    prices["f"] = 0
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("block-for-block")
def block_for_block():
    """A permute is taken for an all-to-all."""
    kinds["f"] = "all-to-all"
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("elements-for-bytes")
def elements():
    """Elements, not bytes."""
    prices = {
        "a": 128,
        "b": 256,
        "c": 128,
        "d": 32,
        "e": 0,
        "f": 16,
        "g": 32,
        "h": 64,
        "i": 64,
        "j": 32,
    }
    sl.predict("2.1", kinds=kinds, prices=prices)


@right
def floats():
    """Prices as floats, in another order."""
    kinds = {
        "j": "reduce-scatter",
        "i": "all-reduce",
        "h": "all-gather",
        "g": "all-gather",
        "f": "collective-permute",
        "e": "none",
        "d": "all-to-all",
        "c": "reduce-scatter",
        "b": "all-reduce",
        "a": "all-gather",
    }
    prices = {
        "a": 512.0,
        "b": 1024.0,
        "c": 512.0,
        "d": 128.0,
        "e": 0.0,
        "f": 64.0,
        "g": 128.0,
        "h": 256.0,
        "i": 256.0,
        "j": 128.0,
    }
    sl.predict("2.1", prices=prices)
    sl.predict("2.1", kinds=kinds)


@wrong("-", 3)
def half_done():
    """Kinds only."""
    sl.predict("2.1", kinds=kinds)


@told("other-axis-forgotten")
def other_axis_forgotten():
    """Every array is counted whole, although the other axis cuts it."""
    prices["g"] = 512
    prices["h"] = 512
    prices["i"] = 1024
    prices["j"] = 512
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("own-part-left-out")
def own_part_left_out():
    """What a device receives, its own part not counted."""
    prices = {
        "a": 384,
        "b": 768,
        "c": 384,
        "d": 96,
        "e": 0,
        "f": 64,
        "g": 64,
        "h": 192,
        "i": 256,
        "j": 128,
    }
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("shard-for-array")
def shard_for_array():
    """Of a gather and a reduce-scatter the smaller side is counted."""
    prices["a"] = 128
    prices["c"] = 128
    prices["h"] = 64
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("shard-keeps-its-size")
def shard_keeps_its_size():
    """An all-to-all and a permute are priced like gathers."""
    prices["d"] = 512
    prices["f"] = 512
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("slice-for-the-whole")
def slice_for_the_whole():
    """Reduce-scatters where the whole sum is wanted."""
    kinds["b"] = "reduce-scatter"
    kinds["i"] = "reduce-scatter"
    prices["b"] = 512
    prices["i"] = 128
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("slicing-moves")
def slicing_moves():
    """To cut an array that is everywhere is thought to move it."""
    kinds["e"] = "all-to-all"
    prices["e"] = 128
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("subscript-gone")
def subscript_gone():
    """A gather over one axis of two is taken for a permute."""
    kinds["g"] = "collective-permute"
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("subscript-moved-by-gather")
def subscript_moved_by_gather():
    """The subscript is moved by way of the whole array."""
    kinds["d"] = "all-gather"
    prices["d"] = 512
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("sum-forgotten")
def sum_forgotten():
    """Sums are gathered, or left alone."""
    kinds["b"] = "all-gather"
    kinds["i"] = "none"
    prices["b"] = 512
    prices["h"] = 128
    prices["i"] = 128
    prices["j"] = 256
    sl.predict("2.1", kinds=kinds, prices=prices)


@right
def underscores():
    """Names of functions."""
    kinds["a"] = "all_gather"
    kinds["b"] = "all_reduce"
    kinds["c"] = "reduce_scatter"
    kinds["e"] = "None"
    sl.predict("2.1", kinds=kinds, prices=prices)


@told("whole-sum-for-a-slice")
def whole_sum_for_a_slice():
    """Every sum is an all-reduce."""
    kinds["c"] = "all-reduce"
    kinds["j"] = "all-reduce"
    prices["c"] = 1024
    prices["j"] = 256
    sl.predict("2.1", kinds=kinds, prices=prices)


@right
def spelt_otherwise():
    """As functions, as constants, as words."""
    kinds = {
        "a": "all_gather",
        "b": "ALL_REDUCE",
        "c": "Reduce Scatter",
        "d": "all-to-all",
        "e": "None",
        "f": "collective_permute",
        "g": "All-Gather",
        "h": "all gather",
        "i": "all_reduce",
        "j": "reduce_scatter",
    }
    prices = {"a": 512, "b": 1024, "c": 512, "d": 128, "e": 0, "f": 64, "g": 128, "h": 256, "i": 256, "j": 128}
    sl.predict("2.1", kinds=kinds, prices=prices)
