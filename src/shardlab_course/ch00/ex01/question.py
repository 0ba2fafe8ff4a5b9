"""Chapter 0, exercise 0.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch00.ex01 import oracle as of
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

OUTCOMES = (
    WrongValues(
        "array-starts-nothing", "A JAX array lies on a device, so JAX starts its devices to make one. The request came "
        "too late (b).", 1, like=lambda said: said["b"] == "8"),
    WrongValues(
        "asking-starts-nothing", "JAX has to start its devices to list them. Listing them uses them (c).", 2,
        like=lambda said: said["c"] == "8"),
    WrongValues(
        "numpy-starts-jax", "NumPy's arrays lie in ordinary memory and need no devices, so JAX does not start any (d).", 1,
        like=lambda said: said["d"] == "RuntimeError"),
    WrongValues(
        "names-start-jax", "A spec computes nothing, and neither does a function that nobody has called. They need no "
                           "device (e, f).", 2,
        like=lambda said: "RuntimeError" in (said["e"], said["f"])),
    WrongValues(
        "import-starts-jax", "`import jax` alone starts no device. Otherwise nobody could ask for eight (a).", 1,
        like=lambda said: said["a"] == "RuntimeError"),
)  # fmt: skip

ORDER = (
    WrongValues(
        "used-before-made", "A line uses a name that a later line makes.", 1,
        like=lambda order: order.index("import") > 0 or order.index("print") < order.index("x")),
    WrongValues(
        "asks-too-late", "The array is made before the line that asks for eight devices. By then JAX has started with one, "
                         "and refuses.",
        1, like=lambda order: order.index("x") < order.index("ask")),
)  # fmt: skip

WHY = (
    WrongValues(
        "import-starts-the-devices", "The import ran in all six programs, and four of them got eight devices.", 2, like="p"),
    WrongValues(
        "first-line-only", "In program f a function stood before the request, and it still came in time.", 2, like="r"),
    WrongValues(
        "arrays-are-lost", "JAX does not delete your arrays. It refuses the request, so that they stay valid.", 3, like="s"),
)  # fmt: skip

QUESTION = Question(
    "0.1", "Eight devices, in time", difficulty=1, minutes=8,
    items=(
        ValueItem("outcomes", {"P": 1.25}, predicted=True, words=("8", "RuntimeError"), spelling=of.spelt,
                  misconceptions=OUTCOMES, key={
            "a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8",
        }),
        ValueItem("order", {"V": 0.5}, key=["import", "ask", "x", "print"], misconceptions=ORDER,
                  members=("import", "ask", "x", "print")),
        ValueItem("why", {"V": 0.5}, key="q", words=("p", "q", "r", "s"), misconceptions=WHY),
    ),
    hints=(
        "For each line, ask whether it needs a place to put a number. If it does, JAX must start its devices at that line.",
        "Making a JAX array needs devices, and so does listing the devices. Importing a module, naming a spec or writing a "
        "function that nobody calls does not.",
        "Once the devices have started, their number is fixed, because arrays lie on them. So ask first: import, ask, make, "
        "print.",
    ),
    explanation="JAX starts its devices when something needs them for the first time: an array, a call of a function under "
                "jax.jit, its compilation without a call, or a request to list the devices. From then on their number is "
                "fixed, because arrays lie on them. So you have to ask for a number after the import and before the first "
                "use, and the first cell of every chapter does that. NumPy's arrays and specs need no device, and neither "
                "do functions that are not called or compiled. If you see the RuntimeError in your own work, look for an "
                "earlier line that used JAX, often inside another import, and restart the kernel.",
)  # fmt: skip
