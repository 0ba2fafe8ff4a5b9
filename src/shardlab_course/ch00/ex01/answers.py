import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("array-starts-nothing")
def after_all_predictions_wrong():
    """Every outcome is the other one."""
    outcomes = {"a": "RuntimeError", "b": "8", "c": "8", "d": "RuntimeError", "e": "RuntimeError", "f": "RuntimeError"}
    sl.predict("0.1", outcomes=outcomes)


@told("array-starts-nothing")
def array_starts_nothing():
    """An array is made in time."""
    outcomes = {"a": "8", "b": "8", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
    sl.predict("0.1", outcomes=outcomes)


@right
def as_tuple():
    """The order as a tuple."""
    order = ("import", "ask", "x", "print")


@told("asking-starts-nothing")
def asking_starts_nothing():
    """Looking is not using."""
    outcomes = {"a": "8", "b": "RuntimeError", "c": "8", "d": "8", "e": "8", "f": "8"}
    sl.predict("0.1", outcomes=outcomes)


@wrong("asks-too-late", 1.75)
def asks_too_late():
    """The array comes first."""
    order = ["import", "x", "ask", "print"]


@wrong("used-before-made", 1.75)
def import_late():
    """It asks before it imports."""
    order = ["ask", "import", "x", "print"]


@told("import-starts-jax")
def import_starts_jax():
    """Importing is taken for starting."""
    outcomes = {"a": "RuntimeError", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
    sl.predict("0.1", outcomes=outcomes)


@told("names-start-jax")
def names_start_jax():
    """A spec and a function are taken for work."""
    outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "RuntimeError", "f": "RuntimeError"}
    sl.predict("0.1", outcomes=outcomes)


@wrong("-", 1)
def not_predicted():
    """Order and reason without predictions."""
    sl.predict("0.1", outcomes=...)


@wrong("-", 1.42)
def numbers_for_texts():
    """Numbers where texts are asked for."""
    outcomes = {"a": 8, "b": "RuntimeError", "c": "RuntimeError", "d": 8, "e": 8, "f": 8}
    sl.predict("0.1", outcomes=outcomes)


@told("numpy-starts-jax")
def numpy_starts_jax():
    """NumPy is taken for JAX."""
    outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "RuntimeError", "e": "8", "f": "8"}
    sl.predict("0.1", outcomes=outcomes)


@wrong("used-before-made", 1.75)
def print_too_early():
    """It prints what is not there yet."""
    order = ["import", "ask", "print", "x"]


@right
def short_spelling():
    """Upper and lower case of its own."""
    outcomes = {"a": "8", "b": "runtimeerror", "c": "runtimeerror", "d": "8", "e": "8", "f": "8"}
    sl.predict("0.1", outcomes=outcomes)
    why = "Q"


@wrong("arrays-are-lost", 1.75)
def why_arrays():
    """The wish is taken for a deletion."""
    why = "s"


@wrong("first-line-only", 1.75)
def why_first_line():
    """A rule of style is taken for the reason."""
    why = "r"


@wrong("import-starts-the-devices", 1.75)
def why_import():
    """The import is blamed."""
    why = "p"
