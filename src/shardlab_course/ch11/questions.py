"""Chapter 11's questions: FSDP, ZeRO and memory."""

from __future__ import annotations

from shardlab_course.ch11 import misconceptions as wrong
from shardlab_course.ch11 import oracles as of
from shardlab_course.ch11.oracles import LINE, PLANE, TALL
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question

SUMS = "float32 sums over the batch, in another order"

LEDGER = Question(
    "11.1", "Keep the ledger", difficulty=2, minutes=25,
    items=(
        CallsItem("ledger", {"C": 2}, oracle=of.ledger, misconceptions=wrong.LEDGER, draw=of.draw_ledger,
                  calls=tuple((7_500_000_000, 60, stage, mixed) for stage in range(4) for mixed in (True, False))),
        CallsItem("largest", {"C": 1}, oracle=of.largest, misconceptions=wrong.LARGEST, draw=of.draw_largest, rtol=1e-6,
                  calls=tuple((16_000_000_000, n, stage, mixed)
                              for n in (8, 256) for stage in range(4) for mixed in (True, False))),
    ),
    hints=(
        "Write down the bytes of one parameter: weight, gradient, optimizer. In float32 these are 4, 4 and 8.",
        "Stage 1 divides the optimizer's bytes by the number of devices, stage 2 also the gradients', stage 3 also the "
        "weights'.",
        "largest: the sum of the three, for one parameter, is what a device holds of it; divide its memory by that. "
        "Multiply first and divide last, so that the number is exact.",
    ),
    explanation="Everything that training keeps is as large as the model, several times over: 16 bytes a parameter either "
                "way, in mixed precision 2 + 2 + 12. Data parallelism keeps all of it n times. The stages of ZeRO remove "
                "copies, the largest part first: the optimizer's state is looked at by nobody but the one who updates, so "
                "each device keeps what it updates. In mixed precision and with many devices stage 1 tends to 4 bytes a "
                "parameter, stage 2 to 2, and only stage 3 to nothing. What is not in the ledger: activations, which grow "
                "with the batch, and whatever a step needs for a while, such as a layer's gathered weights.",
)  # fmt: skip

ZERO = Question(
    "11.2", "ZeRO-1, with tied weights", difficulty=4, minutes=55,
    items=(
        ProgramItem("train", {"V": 1, "S": 1, "H": 0.5, "M": 0.5}, oracle=of.trained(),
                    misconceptions=wrong.TRAIN, rtol=1e-3,
                    atol=3e-4, tolerance="five steps of Adam, which divides small numbers by small numbers",
                    cases=(of.training(LINE, 32, 24, 16), of.training(PLANE, 24, 20, 12)), draw=of.draw_training),
    ),
    hints=(
        "Write it for one device first. What do m and v of some rows need from other rows?",
        "Nothing: so a device updates its rows of the state and of the weight, and then everybody needs all rows of the "
        "weight. Say in every step where each of the three lies.",
        "After jax.grad: m and v = with_sharding_constraint(..., P('data', None)), so is the step that is computed from "
        "them; the new weight is constrained to P().",
    ),
    explanation="Adam works element by element, so its state can be cut in any way, and whoever holds a part of the state "
                "updates that part of the weight. The rest is moving: gradients come as sums, of which a device needs its "
                "rows; new weights go to all. That is a reduce-scatter and an all-gather, the two halves of the all-reduce "
                "that plain data parallelism makes, so ZeRO-1 need not move a byte more.\n\nIn automatic mode on CPU "
                "the first half is a whole all-reduce and a slice, and the tied weight's two uses are summed apart: in the "
                "first case about twice as much; shard_map with psum_scatter saves it. The tied weight is one array used "
                "twice. Its gradient is one sum over both uses, and its state exists once: treat it as two and training "
                "goes another way without any error.",
)  # fmt: skip

FSDP = Question(
    "11.3", "FSDP by hand", difficulty=4, minutes=40,
    items=(
        ProgramItem("gradients", {"V": 1, "S": 0.5, "H": 1, "M": 0.5}, oracle=of.slopes, misconceptions=wrong.GRADIENTS,
                    tolerance=SUMS, slack=8, slack_reason="the loss, one number, may be reduced beside the gradients",
                    cases=(of.layers(LINE, 88, (16, 24, 40, 8)), of.layers(PLANE, 44, (12, 20, 8, 4)),
                           of.layers(TALL, 22, (6, 10, 14, 2))),
                    draw=of.draw_layers(3), manual=True),
    ),
    hints=(
        "Forward, a device needs all rows of a weight for one product. Which collective brings them, and what is its "
        "transpose?",
        "Gather inside the function that you differentiate, and differentiate with respect to the slices. Then the backward "
        "pass scatters.",
        "In the body: a loss that gathers each w with all_gather(w, 'data', tiled=True), and returns pmean of the mean over "
        "the own samples; jax.grad of it with respect to the tuple of slices.",
    ),
    explanation="The transpose of an all-gather, without to='invarying', is a reduce-scatter: what came from n devices "
                "sends n contributions back, and they are summed where it came from. So FSDP's backward pass is written "
                "by differentiating its forward pass, and each gradient arrives in the rows that the device owns. L "
                "all-gathers and L reduce-scatters move twice the weights' bytes, as much as one all-reduce. XLA for "
                "CPU, left alone, sums the whole gradient for all and cuts it: half as much again on the line of "
                "eight.\n\nThe loss must be the global mean before it is differentiated, as in chapter 10, or the sum of "
                "n means is taken. This program still keeps every gathered weight that the backward pass uses until it "
                "has used it.",
)  # fmt: skip

REMAT = Question(
    "11.4", "Weights that are not kept", difficulty=4, minutes=50,
    items=(
        ValueItem("gathers", {"P": 0.75}, predicted=True, key=8, misconceptions=wrong.GATHERS),
        wrong.MECHANISM,
        ProgramItem("lean", {"V": 0.5, "S": 0.5, "H": 0.5, "J": 1.5}, oracle=of.slopes,
                    misconceptions=wrong.LEAN, tolerance=SUMS,
                    slack=8, slack_reason="the loss, one number, may be reduced beside the gradients",
                    cases=(of.layers(LINE, 88, (16, 24, 40, 32, 8)), of.layers(PLANE, 44, (12, 20, 8, 16, 4))),
                    draw=of.draw_layers(4), checks=(Check("J", of.other_numbers),), manual=True),
    ),
    hints=(
        "jax.checkpoint says: do not keep what is inside, compute it again. Around what, so that backward gathers one layer "
        "at a time?",
        "Without a policy everything inside is computed again, products too. A policy decides for each operation whether "
        "its result is kept.",
        "policy=lambda primitive, *_, **__: primitive.name != 'all_gather', in jax.checkpoint around the function of one "
        "layer, with the gather inside.",
    ),
    explanation="What jax.grad keeps for the backward pass is decided before any compiler looks: a gathered weight is the "
                "result of an operation like any other, so it is kept, and FSDP holds a whole model again at the end of its "
                "forward pass. jax.checkpoint with a policy that does not keep gathers gives it up and gathers again behind "
                "a barrier, 2L - 1 times in all: the first layer's weight is not needed backwards, since nobody asks for "
                "the gradient of the batch.\n\nA policy that refuses a name given to the gathered weight does not help, "
                "because the unnamed result of the gather is kept in its place. And the program compiled for CPU says "
                "nothing: there, in JAX 0.10, the barriers are removed and equal gathers merged. Look where the decision is "
                "written.",
)  # fmt: skip

TRAFFIC = Question(
    "11.5", "What the memory costs", difficulty=3, minutes=35, optional=True,
    items=(
        ValueItem("ratio", {"P": 0.5}, predicted=True, key=1.5, misconceptions=wrong.RATIO),
        CallsItem("traffic", {"C": 2}, oracle=of.traffic, misconceptions=wrong.TRAFFIC, draw=of.draw_traffic, rtol=1e-6,
                  calls=tuple((3_000_000, n, plan, k) for plan in of.PLANS for n, k in ((8, 1), (4, 3)))),
    ),
    hints=(
        "Write every plan with two words only: all-gather and reduce-scatter. Each sends V (n - 1) / n bytes from a device.",
        "What happens once a step, and what once a microbatch? Ask what a device is allowed to keep in between.",
        "Gathers and scatters with k microbatches: data parallel and zero-1 1 and 1; zero-2 1 and k; fsdp k and k if "
        "weights are kept, else 2k and k.",
    ),
    explanation="An all-reduce is a reduce-scatter and an all-gather, so data parallelism sends 2V and ZeRO-1, which does "
                "something useful between the two halves, the same. FSDP gathers twice and scatters once: 3V, half as much "
                "again for an n-th of the memory. With microbatches the plans part: whole gradients are added up at home "
                "and sent once, cut ones must be scattered each time, and weights that nobody keeps are gathered each "
                "time. That is why FSDP likes one large batch, and why some keep gathered weights from forward to "
                "backward where memory allows it.",
)  # fmt: skip

DONATION = Question(
    "11.6", "Give the old weights away", difficulty=2, minutes=20, optional=True,
    items=(
        ProgramItem("step", {"V": 0.5, "S": 0.5, "M": 1.5}, oracle=of.adam, misconceptions=wrong.DONATION,
                    cases=(of.stepping(LINE, 24, 5), of.stepping(PLANE, 32, 7)), draw=of.draw_stepping,
                    tolerance="float32 powers and roots", rtol=1e-4, checks=(Check("M", of.other_donations),)),
    ),
    hints=(
        "Which arguments does the caller never look at again, because the function returns their successors?",
        "jax.jit has donate_argnums. Positions are those of the function's arguments, the mesh included; and the mesh "
        "itself is static.",
        "jax.jit(adam, static_argnums=0, donate_argnums=(1, 2, 3)).",
    ),
    explanation="A function cannot know that its caller will not look at an argument again, so without a word new "
                "weights and state are written beside the old ones, and take 24 bytes a parameter for a moment "
                "instead of 12. donate_argnums is that word: XLA may write an output into the memory of a donated "
                "argument of the same size, and memory_analysis counts those bytes as alias. The old arrays are deleted; "
                "reading one raises.\n\nDonated arrays are matched to outputs by shape and dtype, or by size, not by "
                "meaning: a gradient given away alone holds a new weight afterwards, and given away beside the weight and "
                "its state it is left over here, without a warning. So give away what you mean. A jit inside another one "
                "donates nothing: the outermost one talks to the caller.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (LEDGER, ZERO, FSDP, REMAT, TRAFFIC, DONATION)
