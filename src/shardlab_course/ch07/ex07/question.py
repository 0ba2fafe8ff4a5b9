"""Chapter 7, exercise 7.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch07.ex07 import oracle as of
from shardlab_course.ch07.shared import LINE, MESHES, WIDE, drawing, shape
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

SOLVES = (
    WrongProgram(
        "vector-looks-like-matrix",
        "b has two dimensions, so solve takes it for a matrix, and not for a stack of vectors. A[0] and b[0] of a block "
        "are one system; jax.vmap says that there is a stack.", 1,
        error=r"Invalid shapes for solve|contracting dimensions to have the same shape, got \(\d+,\) and \([18],\)"),
    WrongProgram(
        "brought-to-the-host",
        "NumPy and process_allgather need the values of an array, and inside jit there are none. Nothing has to be "
        "brought together here: process_allgather would even stack the result in one more dimension.", 2,
        error="TracerArrayConversionError|process_allgather|multihost"),
    WrongValues(
        "block-dimension-lost",
        "The vectors were set end to end. Perhaps A[0] took the block's first dimension away. Put the dimension back "
        "with [None].", 2,
        when=lambda o: shape(o) == (o.inputs[1].size,)),
    WrongCost(
        "one-system-only",
        "One solution came out. A[0] of the whole array is the first system of all. Inside shard_map it is each device's "
        "own system, and out_specs set the solutions one below another.", 1,
        when=lambda o: shape(o) == o.inputs[1].shape[1:]),
    WrongValues(
        "other-damping", "The matrix is A + 16 I. Here another multiple of I was added, or none.", 1,
        when=of.otherwise_damped),
    WrongValues(
        "transposed", "This solves the transposed systems: (A[0] + 16 I) @ x should give b[0].", 1,
        like=lambda A, b: of.solves(A.transpose(0, 2, 1), b)),
    WrongCost(
        "everyone-solves-all", "All matrices were brought to every device, and a device needs only its own.", 1,
        when=lambda o: any(c.payload_bytes >= o.inputs[0].nbytes for c in o.collectives)),
    WrongCost(
        "whole-everywhere",
        "Some devices hold the same solutions. Each should solve one system, and keep its solution: in_specs and "
        "out_specs name all axes of the mesh.", 2,
        when=lambda o: o.placements[0].copies > 1),
)  # fmt: skip

QUESTION = Question(
    "7.7", "Eight linear systems, one on each device", difficulty=2, minutes=15, optional=True,
    items=(
        ProgramItem("solves", {"V": 2, "S": 1, "H": 1}, oracle=of.solves, misconceptions=SOLVES,
                    cases=(of.systems_case(LINE, 16), of.systems_case(WIDE, 12)), draw=drawing(of.systems_case, MESHES, 4),
                    atol=1e-4, tolerance="float32 elimination of well-conditioned systems"),
    ),
    hints=(
        "Print the shapes of both blocks inside the body. How does jnp.linalg.solve read a right-hand side of shape [1, n]?",
        "Either take the one system out of its block and put the solution back in, or tell JAX that the first dimension "
        "is a batch.",
        "Body: jnp.linalg.solve(A[0] + 16 * jnp.eye(n), b[0])[None]. Specs: P(mesh.axis_names) on all three, which cuts "
        "the first dimension over all axes.",
    ),
    explanation="shard_map keeps the rank: a block of eight systems is a stack of one. solve reads a [1, n] right-hand "
                "side as a matrix and refuses it. A[0] and [None] take the stack apart and put it together again, "
                "jax.vmap says that it is a stack, and b[..., None] turns the vectors into columns. All three are right.\n\n"
                "On whole arrays the compiler decides. For jax.vmap of solve, XLA for CPU makes a program that leaves the "
                "systems where they are (so does XLA for GPU), and XLA for TPU gathers the whole stack. With jax.lax.map "
                "all three gather everything. In shard_map nothing moves. One large system over eight devices is another "
                "matter (chapter 13).",
)  # fmt: skip
