import shardlab as sl
from shardlab_course.answers import right, told, wrong


@wrong("batch-over-all", 3.25)
def batch():
    """The batch over both axes."""
    layout["X"] = "b x -> b@(data model) x"


@wrong("second-weight-by-columns", 2.5)
def columns():
    """W2 is cut along z."""
    layout["W2"] = "y z -> y z@model"


@wrong("first-weight-whole", 3.25)
def first_whole():
    """Only W2 is cut."""
    layout["W1"] = "... -> ..."


@told("payload-halved")
def half():
    """Half of the price."""
    sl.predict("5.4", kinds=["all-reduce"], factor=0.5, why="c")


@told("degree-adds-a-collective")
def kinds():
    """A collective more."""
    sl.predict("5.4", kinds=["all-reduce", "all-gather"], factor=2, why="c")


@wrong("batch-not-cut", 1.75)
def no_data():
    """Only the weights."""
    layout["X"] = "b x -> b x"


@wrong("-", 1.75)
def not_a_dict():
    """A list."""
    layout = ["b x -> b@data x"]


@wrong("degree-in-the-expression", 2.5)
def numbers():
    """Degree 2, in numbers."""
    layout = {"X": "b x -> b4 2 x", "W1": "x y -> 4 x y2", "W2": "y z -> 4 y2 z"}


@right
def other_names():
    """Other names of dimensions."""
    sl.predict("5.4", kinds=["all-reduce"], factor=2.0, why="c")
    layout["X"] = "rows ... -> rows@data ..."


@wrong("first-weight-by-rows", 3.25)
def rows():
    """W1 is cut along x."""
    layout["W1"] = "x y -> x@model y"


@told("payload-unchanged")
def same():
    """The same price."""
    sl.predict("5.4", kinds=["all-reduce"], factor=1, why="c")


@wrong("second-weight-whole", 3.25)
def second_whole():
    """Only W1 is cut."""
    layout["W2"] = "... -> ..."


@wrong("batch-over-model", 1.75)
def swapped():
    """The axes the other way round."""
    layout = {
        "X": "b x -> b@model x",
        "W1": "x y -> x y@data",
        "W2": "y z -> y@data z",
    }


@wrong("-", 1.75)
def unreadable():
    """An axis that no mesh has."""
    layout["W2"] = "y z -> y@modell z"


@wrong("weights-whole", 3.25)
def weights_whole():
    """Data parallelism over one axis."""
    layout = {
        "X": "b x -> b@data x",
        "W1": "... -> ...",
        "W2": "... -> ...",
    }


@wrong("input-by-columns", 3.25)
def x_columns():
    """X is cut twice."""
    layout["X"] = "b x -> b@data x@model"


@told("terms-are-bytes")
def terms_are_bytes():
    sl.predict("5.4", kinds=["all-reduce"], factor=2, why="a")


@told("weights-are-sent")
def weights_are_sent():
    sl.predict("5.4", kinds=["all-reduce"], factor=2, why="b")
