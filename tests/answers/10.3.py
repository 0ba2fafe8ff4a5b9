from variants import right, wrong

import shardlab as sl

sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "8 times"})


@wrong("as-with-the-check", 0.5)
def as_checked():
    sl.predict("10.3", unchecked={"a": "8 times", "b": "right", "c": "8 times", "d": "right", "e": "64 times"})


@right
def capital():
    import jax

    P = jax.P
    sl.predict("10.3", unchecked={"a": "Right", "b": "Own", "c": "own", "d": "right", "e": "8 times"})


@wrong("-", 2)
def e_wrong():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "own", "d": "right", "e": "64 times"})


@wrong("loss-is-enough", 2)
def loss_is_enough():
    sl.predict("10.3", unchecked={"a": "right", "b": "right", "c": "own", "d": "right", "e": "8 times"})


@wrong("somebody-sums", 2)
def somebody_sums():
    sl.predict("10.3", unchecked={"a": "right", "b": "own", "c": "8 times", "d": "right", "e": "8 times"})
