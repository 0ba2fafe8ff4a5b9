"""Chapter 10's questions: data parallelism and gradients."""

from __future__ import annotations

import pathlib

from shardlab_course.ch10 import clipping
from shardlab_course.ch10 import misconceptions as wrong
from shardlab_course.ch10 import oracles as of
from shardlab_course.ch10.oracles import LINE, MODEL_LINE, PLANE, TALL
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

HERE = pathlib.Path(of.__file__).parent

SUMS = "float32 sums over the batch, in another order"

AUTOMATIC = Question(
    "10.1", "Who ordered the all-reduce?", difficulty=2, minutes=25,
    items=(
        ValueItem("numbers", {"P": 1.5}, predicted=True, misconceptions=wrong.NUMBERS,
                  key={"bytes": 12340, "bytes_of_twice_the_batch": 12340}),
        ProgramItem("step", {"V": 0.5, "S": 0.5, "H": 1}, oracle=of.descended(), misconceptions=wrong.STEP, tolerance=SUMS,
                    cases=(of.training(LINE, 112, (6, 8, 16)), of.training(PLANE, 80, (5, 8, 8))), draw=of.draw_training),
    ),
    hints=(
        "Write each weight's gradient with subscripts. Which dimension is summed away, and over which axis is it cut?",
        "A term of a gradient has the shape of its weight on every device. The batch stands in no gradient's shape.",
        "step: a function from the four weights to the mean squared error, jax.grad of it, and every weight minus 0.1 times "
        "its gradient. No collective and no constraint.",
    ),
    explanation="dW[D, F] = X[B_x, D]ᵀ·dY[B_x, F] sums over the batch, which is cut on both sides: case 3. So each device"
                " makes terms of the weights' own shapes, and they are added up over the devices. The bytes are those of"
                " the weights, however large the batch is: that is why data parallelism likes large batches.\n\nHow many "
                "operations carry them is up to a compiler: XLA for CPU and for TPU join the sums of all eight gradients"
                " into one, so counting operations would not tell a bias from a model; bytes do. Nothing in the program "
                "says all-reduce. It follows from where the batch and the weights lie: weights that every device updates as "
                "a whole need the whole gradient everywhere.",
)  # fmt: skip

MANUAL = Question(
    "10.2", "The gradient that is summed already", difficulty=3, minutes=45,
    items=(
        ProgramItem("gradients", {"V": 1, "S": 0.5, "H": 1}, oracle=of.unbiased,
                    misconceptions=wrong.GRADIENTS, tolerance=SUMS,
                    cases=(of.by_hand(LINE, 96, (6, 8, 3)), of.by_hand(PLANE, 88, (5, 8, 4))), draw=of.draw_by_hand,
                    manual=True),
    ),
    hints=(
        "Print jax.typeof of a gradient inside the body. Does it say {V:data}? If not, what must have happened to it?",
        "The sum over devices is there already; what is summed must be the right thing. Two mends: make the loss the global "
        "mean before you differentiate, or make the weights vary, so that nobody sums for you.",
        "Either jax.grad of a function that returns jax.lax.pmean(loss, 'data'). Or jax.lax.pcast(W, 'data', to='varying') "
        "for each weight, jax.grad, and pmean of the gradients.",
    ),
    explanation="A weight that does not vary is used on all devices, so its gradient is a sum over all devices: the "
                "transpose of the free cast to varying is a psum, and jax.grad puts it in. Of n local means that sum is "
                "n times the global mean's gradient, and a pmean after it averages n equal copies: still n times too "
                "large, and a second all-reduce is made. pmean inside the loss divides by n before anything is summed.\n\n"
                "Or cast the weights to varying yourself: then the gradients are the device's own, and averaging them is"
                " your business. Dividing by n is right as well. All three move the weights' bytes once. In pmap, which "
                "knew no such types, pmean(grad(loss)) was right; that is where the habit comes from.",
)  # fmt: skip

UNCHECKED = Question(
    "10.3", "The same five programs, unchecked", difficulty=4, minutes=20,
    items=(
        ValueItem("unchecked", {"P": 2.25}, predicted=True, key=wrong.UNCHECKED, misconceptions=wrong.WITHOUT_CHECK,
                  words=("right", "8 times", "64 times", "own"), spelling=wrong.small_letters),
        wrong.MECHANISM,
    ),
    hints=(
        "Without the check JAX does not track what varies. So nothing can tell it that a sum is missing.",
        "Then jax.grad inserts no sum for the weights: backward there is only the transpose of what you wrote. What is the "
        "transpose of psum, if there is no cast to be it?",
        "c has no collective. a averages gradients of own samples. In b the cotangent 1 goes through psum's transpose, "
        "again a psum, and the division by 8: what is left?",
    ),
    explanation="With check_vma=False no type says that the weights are the same everywhere, so jax.grad leaves each "
                "device with the gradient of what it computed itself. c is that and nothing more. a averages: right, as "
                "it was in pmap. b differentiates a pmean: psum's transpose is then psum, the eight cotangents of 1 add "
                "up to 8, the division makes it 1 again, and what comes out is the own gradient. d averages those: "
                "right. e sums them: 8 times. So d is the only one that is right in both worlds, and with the check it "
                "moves twice the bytes. b and c are worse than wrong: out_specs=P() promises copies that differ, and "
                "printing shows only device 0's.",
)  # fmt: skip

ACCUMULATION = Question(
    "10.4", "One all-reduce for fifteen gradients", difficulty=5, minutes=75,
    items=(
        ProgramItem("accumulate", {"V": 1, "S": 0.5, "H": 2}, oracle=of.stacked,
                    misconceptions=wrong.MICRO, tolerance=SUMS, most=1,
                    rtol=1e-4, atol=1e-4, cases=(of.microbatches(LINE, 3, 8, 5, 16), of.microbatches(PLANE, 2, 6, 4, 24)),
                    draw=of.draw_microbatches),
    ),
    hints=(
        "Where does the gradient of a replicated weight get its sum? Which type of weight leaves the sum to you?",
        "Cast the weights to reduced once, before the loop. Their gradients are then unreduced, and unreduced arrays may be "
        "added. Everything that is added must be.",
        "reshard W to P(reduced={'data'}); zeros resharded to P(unreduced={'data'}) as accumulator; scan over (X, Y) adding "
        "jax.grad; reshard the total to P().",
    ),
    explanation="With replicated weights each backward step has to give a replicated gradient, so the sum is made on the"
                " spot: in the loop over layers, in the loop over microbatches. That is 15 all-reduces for 3 layers and "
                "5 microbatches. XLA for CPU leaves these sums in their loops. XLA for TPU takes them out of a single "
                "loop that only adds gradients up, and not out of these two.\n\nThe type does it everywhere: the "
                "transpose of the free cast to reduced is the reduction, so the cast's place in the forward program is "
                "the reduction's place in the backward one. In between everything is unreduced, and few operations take "
                "that: sums of two such arrays are among them, which is all that accumulation needs. shard_map does the "
                "same with a cast to varying before the loop and one psum after it.",
)  # fmt: skip

BATCH_NORM = Question(
    "10.5", "Statistics of a batch that nobody has", difficulty=3, minutes=35,
    items=(
        ProgramItem("batch_norm", {"V": 1, "S": 0.5, "H": 1}, oracle=of.normalised,
                    misconceptions=wrong.STATISTICS, manual=True,
                    rtol=2e-4, atol=2e-4, tolerance="the variance may be taken as a difference of float32 means",
                    cases=(of.columns(LINE, 32, 6), of.columns(PLANE, 24, 7)), draw=of.draw_columns),
    ),
    hints=(
        "How many numbers does a device need from the others before it can normalize its own rows?",
        "Deviations must be from the global mean. Then their squares' mean over your rows, averaged over devices, is the "
        "global variance.",
        "m = pmean(x.mean(0)), v = pmean(((x - m) ** 2).mean(0)), both over data; then (x - m) / sqrt(v + 1e-5) * scale + "
        "shift.",
    ),
    explanation="All devices have equally many rows, so the mean of their means is the mean. For variances that fails: "
                "var = mean of the own variances + variance of the own means, and pmean of the variances drops the "
                "second term. Deviations from the global mean, or means of x and x² in one all-reduce, are right. Either"
                " way two numbers a column move. On global arrays under jit batch norm is over the whole batch by "
                "itself. On many hosts too: a global array is global. In shard_map statistics are local unless you "
                "reduce them, and so they are in libraries in which a process knows its own batch alone; the other thing"
                " is called synchronized batch norm.",
)  # fmt: skip

CLIPPING = Question(
    "10.6", "One norm for all", difficulty=3, minutes=30, optional=True,
    items=(
        ProgramItem("clip", {"V": 1, "S": 0.5, "H": 1}, oracle=clipping.clipped, misconceptions=wrong.CLIP, most=1,
                    slack=8, slack_reason="each of the two arrays that are cut may have a sum of its own",
                    cases=(clipping.clipping(MODEL_LINE, 32, 11, 5, 24, 170), clipping.clipping(PLANE, 8, 3, 2, 8, 5)),
                    draw=clipping.draw_clipping),
    ),
    hints=(
        "The norm of three arrays is the root of a sum over all their elements. Which of these elements has a device, and "
        "how many devices have the same?",
        "Squares add over devices, norms do not. Sum the squares of cut arrays over model. Squares of the whole array are "
        "complete on every device.",
        "total = psum of the squares of A and B over model, plus the squares of C; factor = minimum(1, 12 / sqrt(total)). "
        "On global arrays under jit plain sums do it.",
    ),
    explanation="Clipping keeps the direction, so there can be only one factor, and every device must know it. What it "
                "takes is one number: each device squares and sums what it holds, and the scalars are summed over model."
                " Arrays that are whole on every device are counted once, outside of the psum; inside they would be "
                "counted n times, since psum does not ask whether its terms are copies.\n\nUnder jit all this is done for "
                "you: jnp.sum means the sum of the global array. There one all-reduce is enough: XLA for CPU sends both "
                "scalars in it, XLA for TPU their sum. Clipping by local norms gives each device another factor; with "
                "the check on, JAX sees that the whole array would no longer be the same everywhere.",
)  # fmt: skip

NETWORK = Question(
    "10.7", "A Flax network, over data and model", difficulty=4, minutes=45, optional=True,
    items=(
        ProgramItem("train", {"V": 1, "S": 1, "H": 1}, oracle=of.descended(steps=of.STEPS), misconceptions=wrong.NETWORK,
                    tolerance="five steps of float32 sums, in another order",
                    cases=(of.training(PLANE, 32, (12, 16, 6), of.NETWORK), of.training(TALL, 24, (10, 24, 5), of.NETWORK)),
                    draw=of.draw_network),
    ),
    hints=(
        "The weights arrive whole. What in your program cuts them, and does it do so before the first step?",
        "Columns of W1 with b1, rows of W2, as in chapter 4's case 3: only the outputs are then summed over model, and the "
        "gradients of what each device holds over data.",
        "nnx.Param(W1, out_sharding=(None, 'model'), mesh=mesh) cuts at once; so does with_sharding_constraint. Then five "
        "times nnx.grad(loss)(model, X, Y) and an update: nnx.update, or nnx.Optimizer with optax.sgd(0.1).",
    ),
    explanation="An nnx.Param holds an array and notes about it. Where the array lies is the array's business: the notes"
                " cut something only where somebody acts on them. Given out_sharding and a mesh, nnx.Param does so "
                "itself, by a sharding constraint; with eager_sharding=False it only remembers. Cut over model, each "
                "step sums the outputs of one data group's samples over model and the gradients of a device's own part "
                "of the weights over data.\n\nWith 12, 16 and 6 units and 32 samples on 4 by 2 that is a price of 8240 "
                "bytes in five steps against 12400 of data parallelism alone, and about half of the arithmetic and of the "
                "weights. Nobody wrote a collective; the same class with other specs is another parallelism.",
)  # fmt: skip

RANDOM = Question(
    "10.8", "Random numbers under sharding", difficulty=3, minutes=15, optional=True,
    items=(
        ValueItem("draws", {"P": 1.5}, predicted=True, misconceptions=wrong.DRAWS,
                  key={"same_numbers": True, "collectives": 0}),
        ProgramItem("noisy", {"V": 0.5, "S": 0.5, "H": 0.5, "F": 0.5}, oracle=of.noisy, misconceptions=wrong.NOISY,
                    cases=(of.random_rows(LINE, 16, 6), of.random_rows(PLANE, 24, 5)), draw=of.draw_random_rows),
    ),
    hints=(
        "A key is data. Same key and same shape give the same numbers, whoever asks.",
        "In shard_map a device draws the shape of its block, so its numbers depend on how the array is cut. Which shape "
        "would give the numbers of one device?",
        "One line on global arrays: X plus jax.random.normal of the key and of X.shape. Under jit, where X lies decides who "
        "makes what.",
    ),
    explanation="JAX's default generator computes number i from the key and i alone, so each device makes the numbers of "
                "its own part and nothing moves. The sharding is not part of the recipe, so a run on another mesh repeats "
                "the same numbers, up to rounding, and so does a test on one device. In shard_map the recipe sees blocks: "
                "a key that does not vary gives every device the same numbers.\n\nThat is right for weights that are to be "
                "equal, and wrong for dropout. Fold the index along data into the key and the devices differ; they agree "
                "still along model, where copies must. The price is that these numbers depend on the mesh's size. Making "
                "everything everywhere and slicing is right too, and costs each device all of the arithmetic.",
)  # fmt: skip

GUARD = Question(
    "10.9", "A guard for gradients", difficulty=3, minutes=25, optional=True,
    items=(GuardItem("gradients_hold", {"G": 2}, kept=HERE / "guarded.json", misconceptions=wrong.GUARD),),
    hints=(
        "Gradients have the shapes of the weights. What is due for them, and how often, however many microbatches there "
        "are?",
        "One all-reduce of all gradients: twice the bytes of the weights, which are the first two inputs. Both outputs must "
        "be whole on every device.",
        "allowed = 2 * 4 * sum(math.prod(w['shape']) for w in facts['inputs'][:2]); error < 1e-4; all(out['shard'] == "
        "out['shape'] for out in facts['outputs']); and price at most allowed.",
    ),
    explanation="A gradient that nobody added up is the gradient of other data on each device; training goes on, and the "
                "copies of the weights drift apart. One that was added and not averaged is too large by the number of "
                "devices. Both show in the values; of the second nothing else shows, of the first only that too little is "
                "sent, which no upper limit refuses.\n\nWhat values cannot show is a mean that was taken twice, one for "
                "each microbatch, all gradients gathered, or a whole batch that was brought to every device: right, and two "
                "to forty-three times the bytes here. One all-reduce of the weights' bytes is what data parallelism owes, "
                "in as many pieces as a compiler likes.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (
    AUTOMATIC, MANUAL, UNCHECKED, ACCUMULATION, BATCH_NORM, CLIPPING, NETWORK, RANDOM, GUARD,
)  # fmt: skip
