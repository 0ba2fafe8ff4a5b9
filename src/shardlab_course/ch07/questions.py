"""Chapter 7's questions: shard_map, the per-device view."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch07 import misconceptions as wrong
from shardlab_course.ch07 import oracles as of
from shardlab_course.ch07.oracles import LINE, TALL, WIDE, drawing
from shardlab_course.shared.kinds import ERRORS, KINDS
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

MESHES = (LINE, WIDE)
GRIDS = (WIDE, TALL)

EMULATIONS: tuple[tuple[Any, ...], ...] = (
    ("double", {"x": 4}, [["x"]], ["x"], [[3, 1, 4, 1, 5, 9, 2, 6]]),
    ("transpose", {"x": 2, "y": 2}, [["x", "y"]], ["y", "x"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("double", {"x": 2, "y": 2}, [[None, "y"]], ["x", "y"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("row_sums", {"x": 2, "y": 2}, [["x", "y"]], ["x", "y"], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("row_sums", {"x": 2, "y": 2}, [["x", "y"]], ["x", None], [[[1, 2, 3, 4], [5, 6, 7, 8]]]),
    ("double", {"x": 2, "y": 3}, [[["y", "x"]]], [["x", "y"]], [[1, 2, 3, 4, 5, 6]]),
    ("total", {"x": 2, "y": 2}, [["x"]], [], [[[1, 2], [3, 4]]]),
    ("product", {"x": 2, "y": 2}, [["x", None], [None, "y"]], ["x", "y"], [[[1, 2], [3, 4]], [[5, 6, 7, 8], [9, 1, 2, 3]]]),
    ("product", {"x": 2}, [[None, "x"], ["x", None]], [None, None], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    ("product", {"x": 2}, [["x", None], [None, None]], ["x", None], [[[257, 3], [7, 515]], [[1, 300], [259, 2]]]),
    ("outer", {"x": 3, "y": 2}, [["x"], ["y"]], [["x", "y"]], [[1, 2, 3], [4, 5, 6, 7]]),
)

EMULATOR = Question(
    "7.1", "shard_map in NumPy", difficulty=3, minutes=40, optional=True,
    items=(
        CallsItem("emulate", {"V": 3}, oracle=of.emulated, calls=EMULATIONS, draw=of.draw_emulation,
                  misconceptions=wrong.EMULATE),
    ),
    hints=(
        "Three steps for each device: cut its block out of every array, run the body on the blocks, put what it returns "
        "in its place. Only then the next device.",
        "A dimension of the output has as many parts as the axes of its entry have devices together. Devices that "
        "differ only in axes that out_spec leaves out write to the same place.",
        "itertools.product over the axes gives coordinates. block_of(entry, ...) says which block, on the way in and "
        "out. Go backwards, so that the first device writes last.",
    ),
    explanation="Without collectives that is all there is to shard_map: cut, apply, put together. in_specs cut, and an "
                "axis they leave out makes copies. out_specs put together, and an axis they leave out says that the "
                "copies are equal. Your emulator does not ask whether they are, and takes the first; jax.shard_map looks "
                "at types and refuses what it cannot prove. Nothing ties the two specs together: the output's shape "
                "follows from the block that the body returns and from out_specs alone. The grader's oracle shares no "
                "line with yours. It gets the slices from the index maps of shardings, and it agrees with "
                "jax.shard_map.",
)  # fmt: skip

SHAPES: dict[str, Any] = {
    "A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error",
}  # fmt: skip

PREDICT = Question(
    "7.2", "Which shape comes out?", difficulty=2, minutes=20,
    items=(
        ValueItem("shapes", {"P": 2}, predicted=True, key=SHAPES, words=("error",), misconceptions=wrong.SHAPES),
        ValueItem("values", {"P": 1}, predicted=True, misconceptions=wrong.VALUES, key={
            "a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8],
        }),
    ),
    hints=(
        "Forget the global array for a moment. Which shape has one block, before and after the body? Only then look at "
        "out_specs.",
        "Each dimension of the returned block is multiplied by the sizes of the axes that out_specs names for it. An "
        "axis that is named nowhere multiplies nothing, and adds nothing.",
        "Two are refused: one returns a scalar and names an axis; in the other, devices along y hold other sums, and "
        "out_specs says that they agree.",
    ),
    explanation="Out specs put blocks side by side; they never add. B: blocks of [2, 12] side by side along x in dimension "
                "1 make [2, 48]. C: every device has all of z, and x, named in out_specs, repeats it four times. D and E: "
                "other specs on the way out than on the way in are fine.\n\nIn F a device along y has the sum of half a "
                "row; nobody added the halves, and the type f32[2]{V:(x,y)} says so. G adds them. H has no dimension to put "
                "side by side: return shape (1,) instead. a, b and c are the same two numbers on every device: copies that "
                "are taken once, repeated, or added four times over, because psum does not ask whether what it adds are "
                "copies.",
)  # fmt: skip

LIE = Question(
    "7.3", "A promise that nobody keeps", difficulty=2, minutes=20,
    items=(
        ValueItem("checked", {"P": 0.5}, predicted=True, key="ValueError", pattern=ERRORS, also=([0.0],),
                  misconceptions=wrong.CHECKED),
        ValueItem("unchecked", {"P": 0.5}, predicted=True, key=[0.0, 1.0], misconceptions=wrong.UNCHECKED),
        ValueItem("true_on", {"P": 0.25}, predicted=True, key=1, misconceptions=wrong.HOLDERS),
        wrong.MECHANISM,
        ProgramItem("honest", {"V": 0.5, "S": 0.5, "H": 0.5}, oracle=lambda x: x, misconceptions=wrong.HONEST, manual=True,
                    cases=(of.vector_case(LINE, 16), of.vector_case(WIDE, 40)), draw=drawing(of.vector_case, MESHES, 8)),
    ),
    hints=(
        "The body returns its block. Which shape has that? What does P() say about the eight blocks, and is it true?",
        "An array with sharding P() is read from one device: all the others are said to hold the same.",
        "jax.lax.all_gather(block, 'x', tiled=True, to='invarying') brings the blocks together, and its type says that "
        "everybody holds the same.",
    ),
    explanation="The block's type is f32[2]{V:x}: it may vary over x. out_specs=P() says that it does not, so JAX "
                "refuses, whatever the values are: under jit while it traces, without jit when the body has run.\n\n"
                "With check_vma=False the types are not kept, and the program runs: each device returns its own "
                "block, the array gets the shape of one block and a sharding that claims eight equal copies. NumPy "
                "reads the first, [0, 1]. That is true on one device of eight. No error, no warning, and the next "
                "computation goes on with eight different arrays under one name. The honest program gathers. "
                "to='invarying' is no switch to silence a check: an all-gather does give everybody the same, and "
                "this puts it into the type.",
)  # fmt: skip

NORMALIZE = Question(
    "7.4", "Normalized, says the test", difficulty=3, minutes=40,
    items=(
        ProgramItem("parallel_normalize", {"V": 1, "S": 0.5, "H": 0.5}, oracle=of.normalized, misconceptions=wrong.NORMALIZE,
                    cases=(of.grid_case(WIDE, 8, 24), of.grid_case(TALL, 6, 40)), draw=drawing(of.grid_case, GRIDS, 4, 8),
                    manual=True, atol=1e-4, tolerance="float32 means of numbers up to 10, and a division by their spread"),
        CallsItem("is_normalized", {"V": 1}, oracle=of.is_normalized, calls=tuple(of.attempts()), draw=of.draw_attempt,
                  misconceptions=wrong.TEST),
    ),
    hints=(
        "Take one row with 4 numbers on 2 devices, and do by hand what the given body does. Over how many numbers is "
        "each of its means taken?",
        "The mean over a row is the mean over devices of the mean over each device's columns, because all have equally "
        "many. keepdims=True keeps the shapes simple.",
        "Body: the block's mean over dimension 1, then pmean over y; the same for squared deviations. Test: compute the "
        "right answer with NumPy and compare with np.allclose.",
    ),
    explanation="pmean of an array is taken over devices, element by element, and leaves an array of the block's size: "
                "what is subtracted is the mean of 2 numbers, not of a row. With two devices every deviation is plus or "
                "minus the same number, so everything becomes plus or minus one, whose mean is 0 and whose standard "
                "deviation is 1. That is how such a test passed in a published notebook. A test of properties proves "
                "nothing that the wrong answers share. Compare with an independent, slow, obvious answer, and on data "
                "where the mistakes that you can think of show. Reduced first, one number a row crosses devices, "
                "instead of a block.",
)  # fmt: skip

MASKED = Question(
    "7.5", "The mean over all words", difficulty=2, minutes=25, optional=True,
    items=(
        ProgramItem("masked_mean", {"V": 1, "S": 0.5, "H": 0.5}, oracle=of.masked_mean,
                    misconceptions=wrong.MASKED, manual=True,
                    cases=(of.losses_case(LINE, 16, idle=False), of.losses_case(WIDE, 12)),
                    draw=drawing(of.losses_case, MESHES, 8)),
    ),
    hints=(
        "Two devices, one with 1 word of loss 10, one with 9 words of loss 2. What is the mean over the 10 words? What "
        "is the mean of the means?",
        "A mean is a quotient of two sums. Which two numbers does each device contribute?",
        "keep = jnp.arange(width) < lengths[:, None]. Sum jnp.where(keep, losses, 0) and keep, psum both over x, and "
        "divide after that.",
    ),
    explanation="A mean is a sum divided by a count, and both run over devices. Divided too early, each device's mean "
                "gets the same weight, whether it stands for 9 words or for 1; with sentences of unequal length that is "
                "wrong, and wrong by an amount that changes from batch to batch. pmean is right, whatever the numbers, only "
                "where all devices have equally many terms. The price is two numbers a device, 16 bytes as this course "
                "counts all-reduces, whatever the batch.",
)  # fmt: skip

SOFTMAX = Question(
    "7.6", "Softmax over many devices", difficulty=4, minutes=40,
    items=(
        ProgramItem("softmax", {"V": 1, "S": 0.5, "H": 1}, oracle=of.softmax, misconceptions=wrong.SOFTMAX, manual=True,
                    cases=(of.SOFTMAX(LINE, 6, 64), of.SOFTMAX(WIDE, 10, 48)), draw=drawing(of.SOFTMAX, MESHES, 3, 16),
                    rtol=1e-4, tolerance="exponentials of float32 numbers up to 350"),
        ProgramItem("logsumexp", {"V": 1, "S": 0.5, "H": 0.5}, oracle=of.logsumexp,
                    misconceptions=wrong.LOGSUMEXP, manual=True,
                    cases=(of.LOGSUMEXP(LINE, 6, 64), of.LOGSUMEXP(WIDE, 10, 48)),
                    draw=drawing(of.LOGSUMEXP, MESHES, 3, 16)),
    ),
    hints=(
        "Write softmax of one row in NumPy, with the maximum subtracted. Which of its steps need the whole row? How "
        "large is what they produce?",
        "Two steps need everybody: the maximum and the sum of exponentials. Each is one number a row; reduce the block "
        "first, then over x.",
        "m = pmax of the block's maximum over dimension 1, keepdims=True; e = exp(block - m); divide by psum of e's "
        "sum. logsumexp is log of that sum, plus m.",
    ),
    explanation="Softmax needs the whole row twice, once for its maximum and once for its sum, and both times as one "
                "number a row. So each device reduces its block first, and two all-reduces of one number a row do the "
                "rest, however wide the row is. pmax and psum return invarying values, so logsumexp may promise "
                "P().\n\nThe maximum must be the same everywhere, or sums in different units are added. Without any "
                "maximum float32 overflows at exp(89), and exp(-88) is already zero on XLA for CPU. A local softmax "
                "makes each block of a row add up to 1, and the row to the number of devices along x. "
                "Vocabulary-parallel cross-entropy and attention over split sequences are made of these two. To train "
                "through them, put jax.lax.stop_gradient around what goes into pmax: JAX has no derivative of pmax, and "
                "none is needed.",
)  # fmt: skip

SOLVES = Question(
    "7.7", "Eight linear systems, one on each device", difficulty=2, minutes=15, optional=True,
    items=(
        ProgramItem("solves", {"V": 1, "S": 0.5, "H": 0.5}, oracle=of.solves, misconceptions=wrong.SOLVES,
                    cases=(of.systems_case(LINE, 16), of.systems_case(WIDE, 12)), draw=drawing(of.systems_case, MESHES, 4),
                    atol=1e-4, tolerance="float32 elimination of well-conditioned systems"),
    ),
    hints=(
        "Print the shapes of both blocks inside the body. What does jnp.linalg.solve make of a right-hand side of shape "
        "[1, n]?",
        "Either take the one system out of its block and put the solution back in, or tell JAX that the first dimension "
        "is a batch.",
        "Body: jnp.linalg.solve(A[0] + 16 * jnp.eye(n), b[0])[None]. Specs: P(mesh.axis_names) on all three, which cuts "
        "the first dimension over all axes.",
    ),
    explanation="shard_map keeps the rank: a block of eight systems is a stack of one. solve reads a [1, n] "
                "right-hand side as a matrix and refuses. A[0] and [None] take the stack apart and put it together "
                "again, jax.vmap says that it is a stack, b[..., None] makes columns of the vectors. All are right. "
                "On whole arrays it depends on the compiler: of jax.vmap of solve XLA for CPU makes a program that "
                "leaves the systems where they are, XLA for TPU gathers the whole stack. With jax.lax.map both "
                "gather everything. In shard_map nothing moves on either. One large system over eight devices is "
                "another matter (chapter 13).",
)  # fmt: skip

UNKNOWN = Question(
    "7.8", "What a compiler does not know", difficulty=4, minutes=40,
    items=(
        ValueItem("kinds", {"P": 0.5}, predicted=True, key=frozenset({"all-gather"}), members=KINDS,
                  misconceptions=wrong.KINDS),
        ProgramItem("best", {"V": 0.5, "S": 0.5, "H": 0.5}, oracle=of.best, misconceptions=wrong.BY_ROW,
                    cases=(of.SCORES(LINE, 16, 24), of.SCORES(WIDE, 12, 40)), draw=drawing(of.SCORES, MESHES, 8, 8)),
        ProgramItem("best_of_columns", {"V": 1, "S": 0.5, "H": 1}, oracle=of.best, misconceptions=wrong.BY_COLUMN,
                    cases=(of.scores_by_column_case(LINE, 6, 128), of.scores_by_column_case(WIDE, 10, 96)),
                    draw=drawing(of.scores_by_column_case, MESHES, 2, 64)),
    ),
    hints=(
        "By rows: who needs another device's rows? By columns: which scores of a device can be among the best two of "
        "the whole row?",
        "By columns: each device sends its own best two and their columns, counted from the start of the row; then "
        "everybody chooses among the 2n candidates.",
        "all_gather values and columns with axis=1, tiled=True, to='invarying'; top_k of the values says which; "
        "jnp.take_along_axis fetches their columns. axis_index times the block's width is where a block starts.",
    ),
    explanation="Choosing experts for tokens is top_k of every row; cut by rows nothing has to move. XLA for CPU has "
                "no rule that cuts top_k and gathers all scores; XLA for TPU moves nothing where a row has 64 of them, and "
                "gathers rows of 96 or more (asked for eight it cuts longer ones, too). shard_map takes the question away "
                "from both: inside there is nothing left to partition.\n\n"
                "Cut by columns something must move, but only candidates: the best two of a row are among "
                "each device's best two. 2n values and 2n columns replace a whole row. What is found in a block has local "
                "numbers; axis_index times the width makes them global. custom_partitioning can teach XLA the same, and "
                "then it works for callers who know nothing of meshes; but such programs cannot be exported.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (EMULATOR, PREDICT, LIE, NORMALIZE, MASKED, SOFTMAX, SOLVES, UNKNOWN)
