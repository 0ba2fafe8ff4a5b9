"""Chapter 15's questions: capstone and casebook."""

from __future__ import annotations

from shardlab_course.ch15 import budget, casebook, mixture, pipeline, transformer
from shardlab_course.ch15 import misconceptions as wrong
from shardlab_course.ch15.mixture import EXPERTS, FEW_EXPERTS
from shardlab_course.ch15.pipeline import FEW_STAGES, STAGES
from shardlab_course.ch15.transformer import PLANE, TALL
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

CAPSTONE = Question(
    "15.1", "A transformer over two axes, by hand", difficulty=5, minutes=130,
    items=(
        ProgramItem("hand_train", {"V": 2, "S": 1, "H": 2, "M": 1}, oracle=transformer.trained(), misconceptions=wrong.TRAIN,
                    tolerance="five steps of float32 sums, in another order", manual=True,
                    slack=transformer.own_sums,
                    slack_reason="the loss may move a few more numbers a token, such as every device's own sum",
                    cases=(transformer.training(PLANE, 16, 6, (24, 4, 4, 64)),
                           transformer.training(TALL, 12, 5, (20, 4, 5, 52))),
                    draw=transformer.draw_training),
    ),
    hints=(
        "Go through the single-device program line by line. Which lines sum over heads, hidden units or the vocabulary? "
        "These have a psum over model. Which shapes are now a block's?",
        "The softmax needs a maximum, a sum of exponentials and one logit a token: three reductions over model. The loss is "
        "a pmean over data, before you differentiate. Gradients need nothing.",
        "pmax of jax.lax.stop_gradient(logits.max(-1)). The right logit: where tokens equal axis_index('model') times the "
        "number of own columns plus arange, else zero; then psum. Speeds: zeros_like of the blocks.",
    ),
    explanation="Four sums cross the model axis in a forward step: after the heads, after the hidden units, and two for the "
                "loss, whose bytes do not depend on the vocabulary. Backward there is one for each place where an array "
                "that all devices share meets a cut weight, and jax.grad writes it: a copy's transpose is a sum.\n\nThe "
                "same rule sums every weight's gradient over data, once, at the weight's own size, so the cut pays there "
                "too. Speeds are born from the blocks and lie where their weights do; out_specs only has to say so. The "
                "usual mistake is quiet: len(W2) in shard_map is the block's, and the sum is scaled by a share. Shapes "
                "pass, and the losses go down.",
)  # fmt: skip

MESH = Question(
    "15.2", "Choose a mesh, and defend it", difficulty=4, minutes=100,
    items=(
        CallsItem("costs", {"C": 1.5}, oracle=budget.costs, misconceptions=wrong.BILL, rtol=1e-6,
                  calls=((8, 1, 64, 512, 1024, 2, 32000), (2, 4, 64, 512, 1024, 2, 32000), (1, 8, 16, 256, 512, 4, 8192)),
                  draw=budget.draw_costs),
        CallsItem("choose", {"C": 1.5}, oracle=budget.choice, misconceptions=wrong.CHOICE, calls=budget.CHOICES,
                  draw=budget.draw_choice),
    ),
    hints=(
        "A device holds the embedding whole and an m-th of the other weights, 6 bytes each. It has batch / data sequences.",
        "Over model: 4 all-reduces a layer and step, one before the vocabulary, each the size of the device's tokens. Over "
        "data: one, of the gradients of what the device holds. An axis of one device moves nothing.",
        "choose: for every m that divides the devices, and whose data axis divides the batch, find the costs; drop what "
        "does not fit; take the smallest (bytes over both axes, m).",
    ),
    explanation="Over model the tokens travel, over data the gradients: more tokens push towards data, more weights "
                "towards model. Memory has the last word, since what does not fit does not run. The costs leave out much, "
                "and the compiler says how much: temporaries, layouts, what is kept for the backward step. Where they and "
                "the compiler rank two meshes differently, that is worth a sentence in the defence. A good defence names "
                "the bytes over either axis, the peak against the chip's memory with a margin, and one change of the task "
                "(twice the batch, twice the depth) that would turn the choice.",
)  # fmt: skip

GPIPE = Question(
    "15.3", "GPipe in one loop", difficulty=5, minutes=100, optional=True,
    items=(
        ValueItem("idle", {"P": 1}, predicted=True, misconceptions=wrong.BUBBLE, rtol=0.01,
                  key={"one": 3 / 4, "four": 3 / 7, "sixteen": 3 / 19, "a_tenth": 27}),
        ProgramItem("pipeline", {"V": 2, "S": 0.5, "H": 1.5}, oracle=pipeline.piped,
                    misconceptions=wrong.PIPELINE, manual=True,
                    rtol=1e-4, atol=1e-5, tolerance="float32 sums over microbatches, in another order",
                    slack=8, slack_reason="the loss may be summed apart from its gradient",
                    cases=(pipeline.microbatches(STAGES, 11, 4, 16), pipeline.microbatches(FEW_STAGES, 7, 3, 12)),
                    draw=pipeline.draw_microbatches),
    ),
    hints=(
        "Write the timetable of 3 stages and 4 microbatches on paper: a row a stage, a column a tick. How many "
        "columns? Which microbatch does stage s have in tick t?",
        "One loop over M + S - 1 ticks. Stage 0 takes microbatch t, the others what arrived; all apply their weight and "
        "send on. In tick t the last stage finishes microbatch t - (S - 1).",
        "Carry (arrived, total), both cast to varying. total grows by the squares where stage is the last and t >= S - 1. "
        "psum(total) / Y.size, and jax.value_and_grad around all of it.",
    ),
    explanation="All stages run one program, and a stage's number decides what it takes and whether it counts. A microbatch "
                "moves by one stage a tick, so the last one leaves after M + S - 1 ticks, of which a stage works in M: "
                "idle is (S - 1) / (M + S - 1), zero for one stage only, and 3 / 7 for four of each.\n\nThe backward pass "
                "is free of charge in code: the transpose of a permute is the permute backwards, and the transpose of the "
                "loop runs the ticks from the last to the first. So jax.grad of the pipeline is a pipeline. Each tick hops "
                "one microbatch each way, however wide the model is inside of a stage. What it costs is memory: every "
                "tick's input is kept until its gradient comes.",
)  # fmt: skip

MIXTURE = Question(
    "15.4", "Experts, places and two all-to-alls", difficulty=5, minutes=100, optional=True,
    items=(
        ProgramItem("moe", {"V": 2, "S": 0.5, "H": 1.5}, oracle=mixture.mixture(mixture.DEVICES),
                    misconceptions=wrong.MIXTURE,
                    manual=True,
                    rtol=1e-3, atol=1e-3, tolerance="two float32 products, in another order",
                    cases=(mixture.routing(EXPERTS, 32, 6, 16), mixture.routing(FEW_EXPERTS, 40, 5, 14, 3)),
                    draw=mixture.draw_routing),
    ),
    hints=(
        "A device packs a parcel of equal size for every expert, empty places included. What is the shape of all parcels "
        "together? Which dimension does all_to_all split?",
        "A token's place is the number of earlier tokens with the same expert: a cumulative sum of one-hot rows. Places "
        "beyond the room are dropped: x.at[...].set(..., mode='drop').",
        "parcels [E, room, D]; all_to_all(parcels, 'expert', 0, 1, tiled=True) is [E/n, n*room, D]. Two einsums. Back with "
        "1, 0. Read with .at[expert, place].get(mode='fill', fill_value=0).",
    ),
    explanation="Shapes are static and parcels equal, so how many tokens an expert takes is fixed before anybody has seen "
                "them: that is what capacity is for. Each device packs room places for each expert, all_to_all turns "
                "'sorted by expert on every device' into 'sorted by device at every expert', and the same exchange with "
                "split and concat swapped brings the answers back to the places that the device remembers.\n\nWhat moves "
                "each way is the places: about 1.25 times the device's tokens as long as an expert's share of them is "
                "large, and more where rounding up to a whole place counts, as for 64 experts and 24 tokens. Gathering "
                "moves all tokens, and the answers have to come back as well: with 24 tokens a device, and as many experts "
                "as devices, it is more expensive already on two. Empty places travel too, and full experts drop tokens, "
                "which keep their own vector. Training mostly adds a loss that makes routers spread tokens evenly.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (CAPSTONE, MESH, GPIPE, MIXTURE, *casebook.QUESTIONS)
