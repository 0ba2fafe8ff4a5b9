"""Chapter 12's questions: overlap and collective matmul."""

from __future__ import annotations

import random

from shardlab import listings
from shardlab_course.ch12 import misconceptions as wrong
from shardlab_course.ch12 import oracles as of
from shardlab_course.ch12 import pipeline, timetable
from shardlab_course.ch12.oracles import FIVE, LINE, WIDE
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question

ROUNDING = "float32 sums of up to 96 terms in another order"
RING = {"V": 1.0, "S": 0.5, "H": 1.5}
HIDDEN = (Check("H", of.hidden),)

GATHER = Question(
    "12.1", "Multiply while it arrives", difficulty=3, minutes=60,
    items=(
        ProgramItem("ag_matmul", RING, oracle=of.product, manual=True, checks=HIDDEN,
                    misconceptions=wrong.GATHER, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=of.drawing(of.gather_case, False, True, True),
                    cases=(of.gather_case(LINE, 6, 32, 40), of.gather_case(WIDE, 10, 24, 20))),
        ProgramItem("ag_matmul_both", {"V": 0.5, "S": 0.5, "H": 1}, oracle=of.product, manual=True,
                    checks=HIDDEN, misconceptions=wrong.BOTH,
                    deepest=lambda case: dict(case.axes)["x"] // 2, rtol=1e-4, atol=1e-4, tolerance=ROUNDING,
                    draw=of.drawing(of.gather_case, False, True, True),
                    cases=(of.gather_case(LINE, 6, 32, 40), of.gather_case(FIVE, 7, 20, 30))),
    ),
    hints=(
        "Write the sum over chunks first. Which rows of W go with the chunk that a device has in its hands after i hops?",
        "With a ring that sends to d - 1, device d holds chunk (d + i) % n after i hops. Multiply it with those rows, and "
        "pass it on; neither needs the other.",
        "In round i: dynamic_slice_in_dim(w, (d + i) % n * k, k), add x @ part, and except in the last round ppermute x. "
        "Both ways: right meets d - i, left meets d + i.",
    ),
    explanation="The gathered array is never there. A product with it is a sum over chunks, and a sum can be made in any "
                "order: each device begins with its own chunk, another one on each, and goes on with what comes in. While a "
                "chunk is multiplied the next is under way, because neither needs the other.\n\nThe payload is that of the "
                "all-gather without a device's own part. Passing all chunks round first and then multiplying moves the same "
                "bytes by the same permutes, with the same values; but the one product waits for every hop. Only what waits "
                "for what tells these two apart, and that can be read from the program. Both ways round there are n // 2 "
                "hops in a row.",
)  # fmt: skip

SCATTER = Question(
    "12.2", "Send while the next is made", difficulty=4, minutes=55,
    items=(
        ProgramItem("matmul_rs", RING, oracle=of.product, manual=True,
                    checks=(Check("H", of.sums_hidden),), misconceptions=wrong.SCATTER, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=of.drawing(of.scatter_case, True, True, False),
                    cases=(of.scatter_case(LINE, 32, 48, 24), of.scatter_case(WIDE, 24, 40, 9))),
    ),
    hints=(
        "A device's block of the product is a term of every chunk. Which chunk's sum has to leave first? Only its rows "
        "need to be ready.",
        "The ring reduce-scatter of exercise 8.2, with a small product in the place of the chunk: in round i device d adds "
        "rows (d - 1 - i) % n of X times W.",
        "total = part(0); then n - 1 times total = ppermute(total, to d + 1) + part(i), with part(i) = rows (d - 1 - i) % n "
        "of x, times w.",
    ),
    explanation="The mirror image. There a product waits for a hop, here a hop waits for a product; so what can run beside "
                "a hop is the product of the *next* chunk. Sums travel: T / n rows of the output. The inputs could travel "
                "instead, and the values would be right, but where the contracted dimension is longer than the others, as "
                "here, X and W together are larger than the sums, and every hop carries them.\n\nIf the whole product is "
                "made first and its sums go round afterwards, bytes and values are the same too, and every hop has nothing "
                "beside it. psum_scatter of the whole product waits likewise, for the last row, unless a compiler takes it "
                "apart.",
)  # fmt: skip

LOOP = Question(
    "12.3", "Seven lines or one", difficulty=3, minutes=35, optional=True,
    items=(
        ValueItem("lines", {"P": 0.5}, predicted=True, key={"unrolled": 7, "loop": 1, "bytes": 1}, rtol=1e-6,
                  misconceptions=wrong.LINES),
        wrong.MECHANISM,
        ProgramItem("looped", RING, oracle=of.product, manual=True, checks=HIDDEN,
                    misconceptions=wrong.LOOPED, rtol=1e-4, atol=1e-4,
                    tolerance=ROUNDING, draw=of.drawing(of.gather_case, False, True, True),
                    cases=(of.gather_case(LINE, 6, 32, 40), of.gather_case(WIDE, 10, 24, 20))),
    ),
    hints=(
        "What does a round need from the one before? That is the loop's carry. What does it do last that the last round "
        "should not?",
        "Carry the sum and the chunk. n - 1 rounds of product and hop, and one product after the loop.",
        "Start from (zeros, x), zeros pcast with to='varying'. Round i = 0 .. n - 2 permutes x, adds the product of the "
        "chunk that it still has, and carries both on; the last product comes after the loop.",
    ),
    explanation="A text has a loop's body once, and the machine runs it as often as its rounds say: known_trip_count "
                "stands in the loop's own line. So one permute in the text and seven are the same payload. fori_loop(0, n) "
                "with a hop in every round is the usual slip: n hops instead of n - 1, on eight devices a seventh more "
                "bytes.\n\nUnrolled, the compiler sees all rounds and can order them freely, and the program grows with n; "
                "looped, it stays small, and where the compiler plans the body by itself a round's hop can only hide "
                "behind that round's product. Where a hop stands in the body, before or after the product, may then "
                "matter: if the product needs what has just arrived, nothing is left to run beside it.",
)  # fmt: skip

SIMULATE = Question(
    "12.4", "When does overlap stop helping?", difficulty=3, minutes=40,
    items=(
        CallsItem("finish", {"C": 1.5}, oracle=pipeline.finish, draw=pipeline.draw_schedule, rtol=1e-9,
                  misconceptions=wrong.FINISH, calls=(
            ([4.0, 4.0, 4.0, 4.0], [3.0, 3.0, 3.0]), ([2.0, 2.0, 2.0, 2.0], [5.0, 5.0, 5.0]), ([9.0, 1.0, 1.0], [2.0, 2.0]),
            ([1.0, 1.0, 8.0, 1.0], [6.0, 1.0, 1.0]), ([3.0], []), ([5.0, 2.0, 7.0, 1.0, 3.0], [1.0, 9.0, 2.0, 4.0]),
        )),
        CallsItem("most_devices", {"C": 1}, oracle=pipeline.most_devices, draw=pipeline.draw_chip,
                  misconceptions=wrong.MOST, calls=(
            (16384, 1.97e14, 4.5e10, False), (16384, 1.97e14, 4.5e10, True), (28672, 4.59e14, 9e10, True),
            (65536, 9.2e14, 9e10, False), (4096, 9.2e14, 9e10, False),
        )),
    ),
    hints=(
        "Two things are busy: a wire and an arithmetic unit. Keep one clock for each.",
        "Chunk i has come when hop i - 1 ends, and hops follow each other without a gap. Product i begins when the unit is "
        "free and its chunk is there.",
        "most_devices: a product takes 2 · T · D/n · F/n / flops, a hop 2 · T · D/n / bandwidth. Solve for n; T and D "
        "cancel.",
    ),
    explanation="A pipeline of two stations. As long as a product takes longer than a hop, all hops but none of the "
                "products are hidden, and the whole takes what the arithmetic takes. As soon as a hop takes longer, the "
                "wires set the pace, and one product is left over at the end. The crossing is F · W / C devices: tokens "
                "and D cancel, because the same chunk goes over the wire and into the product; what is left is its "
                "partner, F / n columns, which shrinks with more devices. From three devices on the gain is largest where "
                "both take equally long, (2n - 1) / n: it comes close to 2 and never reaches it.",
)  # fmt: skip

WHOLE = Question(
    "12.5", "The whole block", difficulty=4, minutes=55, optional=True,
    items=(
        ProgramItem("overlapped_mlp", {"V": 1, "S": 0.5, "H": 2}, oracle=of.mlp, manual=True,
                    checks=HIDDEN, misconceptions=wrong.MLP, rtol=1e-4,
                    atol=2e-4, tolerance=ROUNDING + ", twice", draw=of.drawing(of.mlp_case, True, False, True,
                                                                                 meshes=(LINE, WIDE)),
                    cases=(of.mlp_case(LINE, 16, 12, 48), of.mlp_case(WIDE, 12, 10, 40))),
    ),
    hints=(
        "Now the gathered dimension is that of the tokens. A chunk of tokens needs no partner rows: it can go through W1 "
        "and relu by itself.",
        "After i hops to d - 1 a device holds the tokens of d + i. Keep relu(x @ w1) in a list. The sums then take these "
        "chunks in an order that fits their way round.",
        "Sums that also go to d - 1: begin with h[1] @ w2, then n - 1 times ppermute and add h[i % n] @ w2 for i = 2 .. n.",
    ),
    explanation="Two rings behind one another: tokens go round and are multiplied as they come, sums go round and are "
                "added to as they pass. Between them nobody waits for the hidden layer to be whole, since relu works on "
                "any chunk of it. If sums start with the chunk that came first, the second ring begins while the first is "
                "still under way. The price is that of the sequence-parallel block of chapter 9, without each device's "
                "own part. Let weights go round instead and the values are right as well: that is the better program as "
                "soon as weights are smaller than tokens, and it has another name, fully sharded data parallelism.",
)  # fmt: skip

READ = Question(
    "12.6", "Read what XLA for TPU planned", difficulty=3, minutes=40,
    items=(
        CallsItem("between", {"V": 2}, oracle=timetable.between, draw=timetable.draw_text, misconceptions=wrong.BETWEEN,
                  calls=(*((listings.hlo(name),) for name in ("blocking_tpu", "ring_tpu", "mlp_tpu")),
                         timetable.draw_text(random.Random(6)))),
    ),
    hints=(
        "Go through the lines in order. What has begun and not ended? What stands in a done's brackets?",
        "Keep a dict from the name of each open start to the products seen so far; at a done, subtract.",
        "A start: `%(collective-permute-start\\S*) =`. A done: `collective-permute-done\\(%(\\S+?)\\)`. A product: ` "
        "fusion(` and `dot_general\"` in one line.",
    ),
    explanation="The text of a scheduled module is a timetable: is_scheduled=true says that lines stand in the order in "
                "which they begin. A start returns at once and its done waits, so what stands between them runs while data "
                "travel. Pairs overlap like tracks and are not nested like brackets, hence the name in the brackets of a "
                "done. A zero is a hop that nothing hides; it need not be a mistake of anybody's, when another hop has to "
                "be waited for anyway. How long a hop takes is not in the text: with one product beside it, it is hidden "
                "if the product takes longer.",
)  # fmt: skip

DETECTIVE = Question(
    "12.7", "Detective: it passed on ones", difficulty=3, minutes=25,
    items=(
        ValueItem("right_on", {"P": 0.75}, key=[0], misconceptions=wrong.RIGHT_ON),
        ValueItem("passes", {"P": 1}, key=frozenset("abc"), members=tuple("abcdef"), misconceptions=wrong.PASSES),
        ValueItem("line_at_fault", {"P": 0.5}, key="C", words=tuple("ABCDE"), misconceptions=wrong.LINE),
    ),
    hints=(
        "Take three devices and write down, for each and for each round, which chunk of X meets which rows of W.",
        "A test can only see the mistake if a wrong pair gives another product than the right one.",
        "Compare with 12.1: which number says which rows go with what a device has in its hands? On which device is `i` "
        "that number?",
    ),
    explanation="Round i multiplies chunk d + i with rows i. On device 0 that is right, so printing one shard, or "
                "comparing what device 0 has, shows nothing. On ones every chunk is like every other; so it is when one "
                "factor alone is made of ones, or of equal chunks. Equal rows of X do not help, a symmetric W does not, "
                "and small numbers make the error small, but not relative to what should come out. Values are off, while "
                "permutes, bytes, shapes and shardings are those of the right program. Test with random numbers, and "
                "compare what every device holds.",
)  # fmt: skip

INVENTED = Question(
    "12.8", "Detective: an API that never was", difficulty=3, minutes=20, optional=True,
    items=(
        ValueItem("decides", {"P": 0.5}, predicted=True, key="d", words=tuple("abcd"), misconceptions=wrong.DECIDES),
        ProgramItem("overlapped", {"V": 1, "S": 0.5, "H": 1.5}, oracle=of.scores, manual=True,
                    checks=(Check("H", of.scores_hidden),), misconceptions=wrong.OVERLAPPED,
                    rtol=1e-4, atol=1e-3, tolerance="float32 products of sums of up to 24 terms",
                    draw=of.drawing(of.scores_case, True, False, meshes=(LINE, WIDE)),
                    cases=(of.scores_case(LINE, 32, 12), of.scores_case(WIDE, 20, 7))),
    ),
    hints=(
        "A traced program is a graph of what needs what. What is left of the order of your lines in it?",
        "For the program: which of the two products needs something from other devices, and which does not?",
        "Inside shard_map: q = x @ w on the device's own tokens; all_gather(x, 'x', axis=0, tiled=True); q @ gathered.T. "
        "In any order.",
    ),
    explanation="In jax.lax of JAX 0.10.2 no public function starts a collective or waits for one on CPUs and TPUs "
                "(psend and precv are for GPUs), and a program seldom needs one. A traced program says what needs "
                "what; a compiler may split a collective into start and done, and put between them what needs "
                "neither (XLA for TPU v5e does at 2048 by 4096 bfloat16 numbers, and not at this exercise's size)."
                "\n\nSo overlap is written by leaving something independent. The queries of a "
                "device's own tokens need nobody, if they are taken from the block; taken from the gathered array "
                "they are the same numbers and wait for all of it. Lines can be exchanged freely without any effect. "
                "The order of Python is not the order of the machine.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (GATHER, SCATTER, LOOP, SIMULATE, WHOLE, READ, DETECTIVE, INVENTED)
