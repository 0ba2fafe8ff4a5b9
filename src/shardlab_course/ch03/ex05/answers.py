import jax

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("work-repeated", 11.5)
def all_whole():
    free = {"A": P(), "B": P(), "C": P(), "D": P()}


@wrong("-", 9)
def axis_twice():
    free = {"A": P(("x", "y"), None), "B": P("x", "y"), "C": ["x", "x"], "D": P()}


@wrong("another-dimension-cut", 7)
def columns_of_a():
    one = {"A": P(None, ("x", "y")), "B": P(("x", "y"), None), "C": P(), "D": P()}


@wrong("d-could-be-cut", 11.5)
def d_whole():
    one = {"A": P(), "B": P(None, ("x", "y")), "C": P(("x", "y"), None), "D": P()}


@wrong("inner-dimensions-cut", 9)
def inner_cut():
    free = {"A": P("x", None), "B": P(None, "y"), "C": P("y", None), "D": P(None, "y")}


@right
def lists():
    free = {"A": [["x", "y"], None], "B": [], "C": [None, None], "D": P()}


@wrong("-", 9)
def no_dict():
    free = P("x")


@right
def other_order():
    free = {"A": P(("y", "x"), None), "B": P(), "C": P(), "D": P()}
    one = {"A": P(), "B": P(None, ("y", "x")), "C": P(("y", "x"), None), "D": P(None, ("y", "x"))}


@wrong("work-repeated", 11.5)
def rows_and_columns():
    free = {"A": P("x", None), "B": P(), "C": P(), "D": P(None, "y")}


@wrong("rows-everywhere", 9)
def rows_everywhere():
    free = {"A": P("x"), "B": P("x"), "C": P("x"), "D": P("x")}


@wrong("rows-everywhere", 7)
def rows_everywhere_once():
    one = {"A": P("x"), "B": P("x"), "C": P("x"), "D": P("x")}


@wrong("b-and-c-do-not-fit", 11.5)
def rows_of_b():
    one = {"A": P(None, ("x", "y")), "B": P(("x", "y"), None), "C": P(("x", "y"), None), "D": P(None, ("x", "y"))}


@wrong("weights-stay-whole", 11.5)
def weights_whole():
    one = {"A": P(("x", "y"), None), "B": P(), "C": P(), "D": P()}


@wrong("one-axis-twice", 9)
def rows_and_columns_over_one_axis():
    """Nothing that is summed is cut, and yet something moves."""
    free = {"A": P("x", None), "B": P(), "C": P(), "D": P(None, "x")}


@wrong("b-and-c-do-not-fit", 11.5)
def rows_of_a_too():
    """B and C fit, and the rows of A are cut besides."""
    one = {"A": P("x", None), "B": P(None, ("x", "y")), "C": P(("x", "y"), None), "D": P(None, ("x", "y"))}
