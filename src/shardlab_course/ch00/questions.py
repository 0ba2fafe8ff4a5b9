"""Chapter 0's questions: first light."""

from __future__ import annotations

from shardlab_course.ch00 import misconceptions as wrong
from shardlab_course.ch00 import oracles as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

MESH_8, MESH_42, MESH_24 = of.MESHES

ORDER = Question(
    "0.1", "Eight devices, in time", difficulty=1, minutes=8,
    items=(
        ValueItem("outcomes", {"P": 1.5}, predicted=True, words=("8", "RuntimeError"), spelling=of.spelt,
                  misconceptions=wrong.OUTCOMES, key={
            "a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8",
        }),
        ValueItem("order", {"V": 0.5}, key=["import", "ask", "x", "print"], misconceptions=wrong.ORDER,
                  members=("import", "ask", "x", "print")),
        ValueItem("why", {"V": 0.5}, key="q", words=("p", "q", "r", "s"), misconceptions=wrong.WHY),
    ),
    hints=(
        "Ask of each line: does it need a place to put a number? If it does, JAX must start its devices there and then.",
        "Making an array of JAX needs devices, and so does listing them. Importing, naming a spec, or writing a function "
        "that nobody calls does not.",
        "Once started, the devices keep their number, since arrays lie on them. So ask first: import, ask, make, print.",
    ),
    explanation="JAX starts its devices when something needs them for the first time: an array, a call of a function "
                "under jax.jit, compiling it without a call, or the question which devices there are. From then on their "
                "number stays, because arrays lie on them. So the number has to be asked for between the import and the "
                "first use, and that is what the first cell of every chapter does. NumPy's arrays, specs and functions "
                "that have been neither called nor compiled need no device. If you see the RuntimeError in your own "
                "work, look for the earlier line that used JAX, often inside another import, and restart the kernel.",
)  # fmt: skip

SHARE = Question(
    "0.2", "One product on eight devices", difficulty=1, minutes=5,
    items=(
        ValueItem("share", {"P": 1}, predicted=True, rtol=1e-3, misconceptions=wrong.SHARE,
                  key={"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}),
        ValueItem("time", {"P": 0.75}, predicted=True, key="same", words=("8x faster", "same", "8x slower"),
                  misconceptions=wrong.TIME),
        wrong.MECHANISM,
    ),
    hints=(
        "Look at the picture of A. How many of its rows does device 0 hold? For how many rows of C is that enough?",
        "Whatever is cut in eight has a share of 1/8, in bytes and in work. What is copied has a share of 1.",
        "The cores of your machine are as many as before. Eight simulated devices share them.",
    ),
    explanation="A is cut into rows, so each device holds an eighth of it, makes an eighth of C, and does an eighth of the "
                "FLOPs. B is needed whole for every row, and its spec names no axis: everybody has a copy. These shares "
                "are the same on eight real chips. The time is not. Simulated devices "
                "are threads on the cores of one machine, and a product on a single device can use all of them, so "
                "the same FLOPs take about the same time. This is why the course counts bytes and FLOPs, and never grades "
                "a clock.",
)  # fmt: skip

REPORT = Question(
    "0.3", "Read a report, and mend", difficulty=1, minutes=10,
    items=(
        ProgramItem("product", {"V": 0.5, "S": 0.5, "H": 0.5, "F": 0.5}, oracle=of.product, draw=of.draw_rows,
                    misconceptions=wrong.PRODUCT,
                    cases=(of.rows_case(MESH_8, 64, 32, 16), of.rows_case(MESH_42, 16, 24, 8))),
        ValueItem("report", {"V": 1.25}, misconceptions=wrong.REPORT, words=("yes", "no"),
                  key={"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}),
    ),
    hints=(
        "Every block of the report names what differs, in brackets. What is not mentioned is right. `expected` is what was "
        "asked for, `got` is what happened.",
        "The values are right, and all of A was sent to everyone to get them. Which line asks for that? What happens "
        "without it?",
        "A row of C needs one row of A, and all of B. Everybody has both already, so nothing needs to be arranged: "
        "multiply.",
    ),
    explanation="`careful` asked for all of A on every device. So all rows were sent to everyone, 8,192 bytes a device, "
                "and then nothing was left to divide: each device made all of C, with eight times the FLOPs, and eight "
                "copies of C lay about. No value was wrong, so no test of values can find it. "
                "The checker reads four things from the compiled program: values on every device, who "
                "holds what, what was sent, and the FLOPs or bytes of each device. Without the constraint, each device "
                "multiplies the rows that it holds with a B that it holds, and nothing moves.",
)  # fmt: skip

CLOCK = Question(
    "0.4", "A product in microseconds", difficulty=2, minutes=12, optional=True,
    items=(
        ValueItem("clocks", {"P": 1.25}, predicted=True, words=("dispatch", "product", "compiling"),
                  misconceptions=wrong.CLOCKS, key={
            "a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product",
        }),
        CallsItem("rate", {"C": 0.5}, oracle=of.rate, draw=of.draw_rate, rtol=1e-6, misconceptions=wrong.RATE,
                  calls=((2048, 2048, 2048, 0.05), (2048, 2048, 2048, 0.0003), (3, 5, 7, 1e-6), (64, 32, 16, 2.0),
                         (3, 5, 7, 0.9))),
        CallsItem("believable", {"C": 0.5}, oracle=of.believable, draw=of.draw_claim,
                  misconceptions=wrong.BELIEVABLE, calls=(
            (2048, 2048, 2048, 0.05, 2e12), (2048, 2048, 2048, 0.0003, 2e12), (4096, 1024, 512, 3e-5, 1.97e14),
            (4096, 1024, 512, 1.5e-5, 1.97e14), (1024, 1024, 1024, 1e-5, 1.97e14), (64, 32, 16, 0.5, 131072.0),
            (3, 5, 7, 0.8, 250.0), (3, 5, 7, 0.8, 260.0), (3, 5, 7, 0.8, 262.25),
        )),
    ),
    hints=(
        "Between `start` and `stop`: does anything there need the numbers of C? If nothing does, nothing waits.",
        "Waiting after `stop` is not timed. A first call compiles. NumPy cannot hold a number that is not there yet. For "
        "the formulas: an element of C is a sum of k products.",
        "m·n elements, k multiplications and k additions each: 2·m·k·n FLOPs. Divide by the seconds; believe what is not "
        "above the peak.",
    ),
    explanation="The call of a large product returns as soon as the work is handed over (when many are under way, the next "
                "may wait). A clock that stops there shows the handing over, however large the matrices are, and it makes "
                "no difference what is waited for afterwards. block_until_ready waits; so does everything that needs the "
                "numbers, such as np.asarray or print.\n\nThe first call of a jitted function compiles as well, as does the "
                "first with another shape, dtype or sharding, so a measurement starts with the call after it. And every "
                "time can be turned into a rate: a product of an (m, k) and a (k, n) matrix has 2·m·k·n FLOPs, and if that "
                "would be above the peak of the chip, the time is wrong.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (ORDER, SHARE, REPORT, CLOCK)
