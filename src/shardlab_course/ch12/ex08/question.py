"""Chapter 12, exercise 12.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch12.ex08 import oracle as of
from shardlab_course.ch12.shared import LINE, WIDE, drawing, least, right
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question, WrongCost, WrongProgram, WrongValues

DECIDES = (
    WrongValues(
        "python-decides",
        "Python only writes the program down. The compiler may reorder it wherever neither of two operations needs the "
        "other.",
        1,
        like=lambda said: said in ("a", "b"),
    ),
    WrongValues(
        "await-decides",
        "JAX's ordinary operations have nothing to wait for: whatever is traced is a value, finished or not.",
        2,
        like="c",
    ),
)
OVERLAPPED = (
    WrongProgram(
        "everything-everywhere", "Every device does more than its part. Perhaps it makes queries or scores of another "
        "device's tokens, or multiplies W with all tokens.", 2,
        when=lambda o: right(o, of.scores) and (o.flops or 0) > 1.5 * least(o), barred=True),
    WrongProgram(
        "made-then-gathered", "A collective waits for a product, and has none beside it. Gather the tokens as they are: no "
        "product is needed for that.", 2, when=of.gathers_products, barred=True),
    WrongProgram(
        "own-part-of-the-whole", "All of the arithmetic waits for what moves. Perhaps the local product takes its tokens "
        "out of the array that was gathered, although its device had these tokens from the start.", 2, barred=True,
        when=of.after_gathering),
    WrongValues(
        "local-scores-only", "The output has too few columns. Perhaps queries were compared with their own device's tokens "
        "only.", 1,
        when=lambda o: o.placements[0].shape[1] * rings.devices(o) == o.inputs[0].shape[0]),
    WrongValues(
        "transposed", "These are the transposed scores. Queries are X W, where W is not transposed, and each row of the "
        "output belongs to one query.", 2, like=of.scores_transposed),
    WrongCost(
        "summed-instead-of-gathered", "An all-reduce brings tokens together too, but it moves twice the bytes of an "
        "all-gather.", 2, when=lambda o: sends_a_part(o, "all-reduce")),
    LEFT,
)  # fmt: skip

QUESTION = Question(
    "12.8", "Detective: an API that never was", difficulty=3, minutes=20, optional=True,
    items=(
        ValueItem("decides", {"P": 1}, predicted=True, key="d", words=tuple("abcd"), misconceptions=DECIDES),
        ProgramItem("overlapped", {"V": 1.5, "S": 1, "H": 2.5}, oracle=of.scores, manual=True,
                    checks=(Check("H", of.scores_hidden),), misconceptions=OVERLAPPED,
                    rtol=1e-4, atol=1e-3, tolerance="float32 products of sums of up to 24 terms",
                    draw=drawing(of.scores_case, True, False, meshes=(LINE, WIDE)),
                    cases=(of.scores_case(LINE, 32, 12), of.scores_case(WIDE, 20, 7))),
    ),
    hints=(
        "Which operations of a program need which others? Must XLA follow the order of your lines where neither needs the "
        "other?",
        "For the program: which of the two products needs something from other devices, and which does not?",
        "Inside shard_map: q = x @ w on the device's own tokens; all_gather(x, 'x', axis=0, tiled=True); q @ gathered.T. "
        "In any order.",
    ),
    explanation="In jax.lax of JAX 0.10.2 no public function starts a collective or waits for one on CPUs and TPUs (psend "
                "and precv are for GPUs), and a program seldom needs one. A traced program says what needs what. A compiler "
                "may split a collective into a start and a done, and put between them what needs neither. XLA for TPU v5e "
                "does so at 2048 by 4096 bfloat16 numbers, and not at this exercise's size.\n\nSo you write overlap by "
                "leaving something independent. The queries of a device's own tokens need no other device if they are "
                "computed from the block. If they are computed from the gathered array, they are the same numbers, but they "
                "wait for all of it. The order of two independent lines makes no difference. The order of Python is not the "
                "order of the machine.",
)  # fmt: skip
