"""Chapter 13, exercise 13.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch13.ex01 import oracle as of
from shardlab_course.ch13.shared import LINE, TRANSFORM, WIDE, gathers, if_right, largest, own_transform, says, transformed
from shardlab_course.shared.kinds import compilers
from shardlab_course.shared.sent import part
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongCost, WrongValues

MOVED = (
    WrongValues(
        "types-are-not-traffic",
        "The type says where the output is, and nothing about how it got there: the whole array was brought to every "
        "device and transformed everywhere, and each device kept its own rows.", 1, like=says("explicit", 0)),
    WrongValues(
        "trusts-the-compiler",
        "No two rows mix, but XLA for CPU of JAX 0.10.2 does not cut an FFT along its batch: it gathers all rows.",
        1, like=lambda got: got.get("fft") == 0 or got.get("vmap") == 0),
    WrongValues(
        "products-are-cut",
        "A transform written as a matrix product is one that XLA knows how to cut: case 1, nothing moves.",
        2, like=lambda got: (got.get("product") or 0) > 0),
    WrongValues(
        "bytes-of-the-block",
        "Payload is the bytes that come out of a collective: after an all-gather the whole batch, with the device's own "
        "part.",
        2, like=lambda got: {got.get("fft"), got.get("vmap"), got.get("explicit")} & {8192, 57344}),
)  # fmt: skip
BATCH = (
    WrongCost(
        "trusts-the-compiler",
        "All signals were brought to every device, although no row needs another. XLA for CPU of JAX 0.10.2 does that to "
        "an FFT of a whole array; an all_gather does it too, and so do in_specs that ask for all rows. Cut the rows, so "
        "that each device has its own.", 1,
        when=if_right(transformed(1), gathers)),
    WrongCost(
        "some-axes-only",
        "Rows were gathered along some of the mesh axes. Perhaps the specs omit these: the rows are cut over all axes of "
        "the mesh, mesh.axis_names.", 3,
        when=if_right(transformed(1), lambda o: 2 * part(o) <= largest(o, "all-gather") < o.inputs[0].nbytes)),
    WrongValues(
        "along-the-batch", "Columns were transformed, across signals; transform each row.", 1, like=transformed(0),
        local=own_transform(0)),
    WrongValues(
        "along-both-dimensions",
        "fft2 and fftn transform every dimension that they see, the batch as well; each row is a signal of its own.",
        1, like=transformed(0, 1), local=own_transform(0, 1)),
    WrongValues(
        "inverse-transform",
        "This is the inverse transform: its waves have the other sign, and it divides by the number of points.",
        1, local=lambda at, block: np.fft.ifft(block)),
)  # fmt: skip

MECHANISM = why(
    "What decides whether XLA for CPU moves the batch?",
    a=Believed(
        "Whether rows mix: if each is transformed alone, nothing moves.", "mathematics-decides",
        "Rows mix in none of the four programs, and the ledger shows what moved: a compiler has rules for operations, and "
        "does not know what you know."),
    b="Whether it knows how to cut the operation: if it does not, it gathers the operand, and every device computes "
      "everything.",
    c=Believed(
        "Whether `vmap` or a type tells it that rows are independent.", "saying-it-helps",
        "The ledger shows the same bytes with and without `vmap`: the operation is the same, and so is the rule for it."),
)  # fmt: skip

QUESTION = Question(
    "13.1", "Many signals, no messages", difficulty=2, minutes=25,
    items=(
        ValueItem("moved", {"P": 3}, predicted=True, misconceptions=MOVED,
                  key={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0}),
        compilers(0.5, "TPU"),
        MECHANISM,
        ProgramItem("batch_fft", {"V": 1.5, "H": 1.5}, oracle=transformed(1),
                    misconceptions=BATCH, rtol=1e-4, atol=1e-3,
                    tolerance=TRANSFORM, cases=(of.signals(LINE, 16, 12), of.signals(WIDE, 24, 10)),
                    draw=of.draw_signals),
    ),
    hints=(
        "Which rows does a row's transform need? And who might not use this fact?",
        "In shard_map the body sees a block of whole rows, and no partitioner looks at what you do with it.",
        "The rows are cut over all axes of the mesh: spec = P(mesh.axis_names). Body: jnp.fft.fft of the block, along its "
        "last dimension.",
    ),
    explanation="A batch of transforms needs no message. XLA for CPU, as in JAX 0.10.2, sends all of it nonetheless: it "
                "gathers the rows, transforms all of them on every device, and cuts the output again. XLA for TPU makes the "
                "same program without a message. vmap only makes the batch. Explicit mode's type says complex64[64@x,128] "
                "of an output that was gathered and cut again.\n\nSo a type is not a ledger; the compiled program is. In "
                "shard_map each device transforms its block, and nothing is left to decide. The product with the matrix of "
                "waves is cut as well, because XLA for CPU and for TPU both cut products. But it takes n² multiplications "
                "per row, and n log n are enough.",
)  # fmt: skip
