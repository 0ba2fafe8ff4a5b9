"""Chapter 15, exercise 15.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math

from shardlab_course.ch15.ex01 import oracle as of
from shardlab_course.ch15.shared import CARRY, moved
from shardlab_course.shared.manual import LEFT, promise
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

TRAIN = (
    WrongCost(
        "speeds-whole", "Some device keeps the speeds of weights that it does not hold.",
        3, when=lambda o: of.right_losses(o) and of.whole_speeds(o)),
    WrongValues(
        "tokens-gathered",
        "Every device gets the whole batch. If in_specs cut tokens over data, each device works on its own sequences.",
        1, when=lambda o: any(math.prod(s) == o.inputs[0].size for s in moved(o, "all-gather"))),
    LEFT,
    promise("A value still varies over an axis that out_specs does not name: a sum over model or the mean over data is "
            "missing, an all_gather lacks to='invarying', or the value is cut and out_specs does not say so."),
    WrongProgram(
        "maximum-differentiated",
        "The maximum only keeps exponentials small and has no part in the gradient: put stop_gradient inside pmax.",
        3, error="Differentiation rule for 'pmax'"),
    WrongProgram(
        "carry-does-not-vary",
        "A value that the loop carries varies over different axes when it goes in and when it comes out. Speeds made with "
        "zeros_like from the blocks vary as the blocks do; jnp.zeros of a shape varies over no axis.", 3, error=CARRY),
    WrongValues(
        "own-shape-for-the-whole",
        "Inside shard_map a shape is the block's: if you scale by the device's own heads or hidden units, a sum over all "
        "of them is too large.", 1, when=of.scaled_by_share),
    WrongValues(
        "own-vocabulary",
        "Exponentials were summed over each device's own columns of the logits alone; the sum of exponentials and the "
        "right token's logit are sums over model.", 2, when=of.own_vocabulary),
    WrongValues(
        "own-token-numbers",
        "Token numbers count the whole vocabulary; a device's first column is number axis_index('model') times its "
        "columns.", 3, when=of.own_token_numbers),
    WrongValues(
        "terms-not-summed",
        "After the heads, or after the hidden units, each device has terms. Sum them over model before anything that is "
        "not linear, such as the norm.", 1, when=of.own_terms),
    WrongValues(
        "gradient-summed-twice",
        "The steps are several times too large: as many times as there are devices along an axis, or along both. If the "
        "rate is right, the gradients are too large. With the check on, jax.grad sums over an axis along which the "
        "weights do not vary; with it off, a psum is a sum again on the way back. Leave the check on, differentiate the "
        "mean over all devices, and do not add up gradients afterwards.", 2, when=of.too_large),
    WrongValues(
        "losses-after-the-step", "These are the losses after each step; report the loss that each step starts from.",
        1, when=lambda o: of.losses_like(o, of.trained(after=True))),
    WrongValues(
        "momentum-forgotten", "The speeds do not build up: each step keeps 0.9 of the speed before it.",
        1, when=lambda o: of.losses_like(o, of.trained(keep=0))),
    WrongValues(
        "uphill", "The loss grows, because the weights move along the gradient; subtract it.",
        1, when=lambda o: of.losses_like(o, of.trained(rate=-of.RATE))),
    WrongValues(
        "sum-instead-of-mean", "The first loss is too large by the number of devices along an axis, or in the mesh. Perhaps "
        "psum added the devices' means: the loss is the mean over all tokens.",
        1, when=of.summed_loss),
    WrongValues(
        "gradients-wrong",
        "The first loss is right, so the whole forward pass is right; gradients, speeds or steps are wrong. With "
        "check_vma=False, jax.grad cannot know which sums over devices are missing.",
        2, when=of.right_first_loss),
    WrongValues(
        "one-loss", "`losses` is one number; it should be five: the loss that each of the five steps starts from.",
        1, when=lambda o: o.placements[0].shape in ((), (1,))),
    WrongCost(
        "logits-gathered",
        "For each token as many numbers as the vocabulary has are brought together, perhaps the logits; the loss needs "
        "three: a maximum and two sums.",
        2, when=lambda o: any(of.VOCABULARY in s[-1:] and len(s) > 2 for kind in ("all-gather", "all-reduce")
                              for s in moved(o, kind))),
    WrongCost(
        "weights-gathered",
        "An array as large as a cut weight is gathered. Perhaps every device computes with all of a weight: let in_specs "
        "cut weights as they are cut already.",
        1, when=of.gathered_weight),
)  # fmt: skip

QUESTION = Question(
    "15.1", "A transformer over two axes, by hand", difficulty=5, minutes=130,
    known_as="data parallelism times Megatron-LM's tensor parallelism (Narayanan and others, 2021)",
    items=(
        ProgramItem("hand_train", {"V": 14, "S": 7, "H": 14, "M": 7}, oracle=of.trained(), names=of.steps,
                    misconceptions=TRAIN,
                    tolerance="five steps of float32 sums, in another order", manual=True,
                    slack=of.own_sums,
                    slack_reason="the loss may move a few more numbers a token, such as every device's own sum",
                    cases=(of.training(of.PLANE, 16, 6, (24, 4, 4, 64)),
                           of.training(of.TALL, 12, 5, (20, 4, 5, 52))),
                    draw=of.draw_training),
    ),
    hints=(
        "Go through the single-device program line by line. Which lines sum over heads, hidden units or the vocabulary? "
        "These have a psum over model. Which shapes are now a block's?",
        "The softmax needs a maximum, a sum of exponentials and one logit per token: three reductions over model. Take the "
        "pmean over data inside the loss, before you differentiate. The gradients then need nothing more.",
        "Take pmax of jax.lax.stop_gradient(logits.max(-1)). For the right logit, psum the logits where tokens equal "
        "axis_index('model') times the number of own columns plus arange, else zero. Make speeds with zeros_like of the "
        "blocks.",
    ),
    explanation="Four sums cross the model axis in the forward pass: one after the heads, one after the hidden units, and "
                "two for the loss, whose bytes do not depend on the vocabulary. Backward there is one sum for each place "
                "where an array that all devices share meets a cut weight. jax.grad writes it, because a copy's transpose "
                "is a sum.\n\nThe same rule sums every weight's gradient over data, once, at the size of the device's "
                "part, so the cut saves bytes there too. Speeds made from the blocks have the shardings of their weights; "
                "out_specs only has to say so. The usual mistake is silent: len(W2) in shard_map is the block's, so the "
                "sum is scaled by a part of the length. Shapes are right, and the losses go down.",
)  # fmt: skip
