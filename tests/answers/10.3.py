import shardlab as sl
from variants import right, told

sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"}, why="b")


@told("as-with-the-check")
def as_checked():
    sl.predict("10.3", unchecked={"a": "8 times", "b": "right", "c": "8 times", "d": "right", "e": "64 times"}, why="b")


@right
def capital():
    import jax

    P = jax.P
    sl.predict("10.3", unchecked={"a": "Right", "b": "Own", "c": "own", "d": "right", "e": "8 times"}, why="b")


@told("-")
def e_wrong():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "64 times"}, why="b")


@told("loss-is-enough")
def loss_is_enough():
    sl.predict("10.3", unchecked={"a": "right", "b": "right", "c": "own", "d": "right", "e": "8 times"}, why="b")


@told("somebody-sums")
def somebody_sums():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "8 times", "d": "right", "e": "8 times"}, why="b")


@told("out-specs-add")
def out_specs_add():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"}, why="a")


@told("compiler-adds")
def compiler_adds():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"}, why="c")
