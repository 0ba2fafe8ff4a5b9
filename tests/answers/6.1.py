import shardlab as sl
from variants import right, told

types = {
    "a": "float32[16@y,8@x]",
    "b": "float32[16@y]",
    "c": "float32[8@x,1,16@y]",
    "d": "float32[128@y]",
    "e": "float32[8@x,4@y,4]",
    "f": "float32[8@x,16@y]",
    "g": "float32[8@x,12@y]",
    "h": "error",
    "i": "float32[8@x,12]",
    "j": "float32[8,16@y]",
}
sl.predict("6.1", types=types)


@told("axes-stay-in-place")
def axes_in_place():
    types["a"] = "float32[16@x,8@y]"
    sl.predict("6.1", types=types)


@told("result-guessed")
def guesses_the_sum():
    types["h"] = "float32[8@x,12]"
    sl.predict("6.1", types=types)


@told("reshape-forgets")
def merge_forgets():
    types["d"] = "float32[128]"
    sl.predict("6.1", types=types)


@right
def short_names():
    types = {
        "a": "f32[16@y, 8@x]",
        "b": "f32[16@y]",
        "c": "f32[8@x, 1, 16@y]",
        "d": "f32[128@y]",
        "e": "f32[8@x, 4@y, 4]",
        "f": "f32[8@x, 16@y]",
        "g": "f32[8@x, 12@y]",
        "h": "ShardingTypeError",
        "i": "f32[8@x, 12]",
        "j": "f32[8, 16@y]",
    }
    sl.predict("6.1", types=types)


@told("reshape-forgets")
def split_keeps_last():
    types["e"] = "float32[8@x,4,4@y]"
    sl.predict("6.1", types=types)


@told("sum-replicates")
def sum_is_whole():
    types["b"] = "float32[16]"
    sl.predict("6.1", types=types)


@told("-")
def three_wrong():
    types["c"] = "float32[8@x,16@y]"
    types["f"] = "float32[8@x,16]"
    types["j"] = "float32[8,16]"
    sl.predict("6.1", types=types)


@told("none-against-axis-clashes")
def whole_clashes():
    types["f"] = "error"
    sl.predict("6.1", types=types)


@told("whole-sum-doubted")
def whole_sum_doubted():
    types["i"] = "error"
    sl.predict("6.1", types=types)
