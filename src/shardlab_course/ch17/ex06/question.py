"""Chapter 17, exercise 17.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch17.ex06 import oracle as of
from shardlab_course.ch17.misconceptions import GATHERED, NO_NUMBERS, OPEN
from shardlab_course.ch17.shared import LINE, WIDE
from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT, promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Check, Question, WrongCost, WrongValues

LAYER = (
    LEFT,
    WrongValues("ring-is-open", OPEN.cause, 2, when=rings.is_open, breaks=True),
    WrongValues(
        "counts-from-zero", "Queries and keys were turned as if each device's rows began at position 0. `positions` gives "
        "their places in the sequence.", 1, when=of.returned(of.turned_by(lambda s, m: np.arange(s) % m))),
    WrongValues(
        "rows-taken-for-positions", "Queries and keys were turned by the numbers of their rows. The rows lie in zigzag "
        "order: use `positions`.", 1, when=of.returned(of.turned_by(lambda s, m: np.arange(s)))),
    WrongValues(
        "mask-of-rows", "The mask compares the numbers of rows, and these lie in zigzag order. Compare positions, or let "
        "`own_block` and `next_block` choose.", 2,
        when=of.returned(of.masked_by(lambda rows, m: rows <= rows[:, None]))),
    WrongValues(
        "mask-of-local-positions", "Each block of scores was masked as if its rows and columns began at the same position.",
        2, when=of.returned(of.masked_by(lambda rows, m: rows % m <= rows[:, None] % m))),
    WrongValues(
        "own-block-only", "Each device used its own keys and values alone.", 1,
        when=of.returned(of.own_block_alone)),
    WrongValues(
        "gradients-not-summed", "Each device has the gradient of its own tokens. The gradient of a weight is the sum over "
        "all devices.", 2, when=of.own_parts),
    WrongValues(
        "gradients-averaged", "The loss is right, and the gradients are an n-th of the right ones. Perhaps what had to be "
        "summed over the devices was averaged.", 2, when=of.returned(of.scaled(lambda n: 1, lambda n: 1 / n))),
    WrongValues(
        "summed-twice", "The loss is right, and the gradients are n times as large as they should be. Perhaps JAX had "
        "summed them before your sum.", 2, when=of.returned(of.scaled(lambda n: 1, lambda n: n))),
    WrongValues(
        "means-added", "Loss and gradients are n times as large as they should be. Perhaps the mean was taken over a "
        "device's tokens, and these means were added.", 2, when=of.returned(of.scaled(lambda n: n, lambda n: n))),
    NO_NUMBERS, GATHERED,
    WrongCost(
        "exponentials-kept", "Small arrays that are alive at the same time take too much together. Perhaps the backward "
        "pass needs the exponentials of all rounds: put each round's scores into a jax.checkpoint of their own.", 2,
        when=of.keeps_exponentials, letters="M"),
    WrongCost(
        "travels-again", "More goes round than keys, values and their gradients once. Perhaps a checkpoint has the hop "
        "inside, and keys and values travel a second time: leave the hop outside.", 3, when=of.travels_again, letters="H"),
    WrongCost(
        "one-hop-too-many", "n - 1 hops bring every block to every device; one more hop returns each block to its own "
                            "device.", 3,
        when=of.comes_home, letters="H"),
    WrongCost(
        "all-scores-multiplied", "As many products were made as for all scores. Perhaps every chunk of scores was made, "
        "and about half of them were masked afterwards: `next_block` makes only the half that is seen.", 2,
        when=of.all_multiplied, letters="F"),
    promise_over_x("something was not summed over x."),
)  # fmt: skip

QUESTION = Question(
    "17.6", "A layer that no device sees whole", difficulty=5, minutes=60,
    items=(
        ProgramItem("layer_step", {"V": 8, "S": 1, "H": 4, "M": 4, "F": 3}, manual=True, misconceptions=LAYER,
                    rights=of.right, names=of.steps, draw=of.draw_layer,
                    checks=(Check("H", of.sent_again), Check("M", of.too_much_held)),
                    rtol=1e-3, atol=2e-5, tolerance="float32 sums over all tokens, and differences of exponentials",
                    slack=64, slack_reason="a few single numbers may be reduced beside the gradients", spare=0.1,
                    cases=(of.layer_case(LINE, 1024, 8, 16), of.layer_case(WIDE, 512, 6, 12))),
    ),
    hints=(
        "Which lines of a layer look at other tokens? Everything else is the plain layer on a device's own rows.",
        "Start with own_block, then a hop and next_block in turn. own_block and next_block are in a jax.checkpoint each, "
        "the hop is outside. The loss: psum of the squares, divided by n * t.size. jax.value_and_grad inside shard_map sums "
        "the gradients.",
        "def one(c, i): k, v = (ppermute(a, 'x', to_the_right(n)) for a in c[1:]); return (jax.checkpoint(next_block)(i, "
        "c[0], q, k, v), k, v), None; scan it over jnp.arange(1, n), and divide.",
    ),
    explanation="Two parts of a layer see other tokens: the positions of the rotary embedding, which a device works out "
                "from its place, and attention, for which keys and values go round. Norms, products and residuals stay as "
                "they are.\n\nThe backward pass comes from JAX. The derivative of a hop is the hop back, so gradients of "
                "keys and values go round once. Weights are equal on all devices, so their gradients are sums over x, which "
                "JAX adds by itself where it can see that a weight does not vary. What it cannot know is what you can "
                "afford to keep: without jax.checkpoint it keeps the exponentials of all rounds, together as many as all "
                "seen scores. With a checkpoint around each round, and the hop outside, a device keeps keys, values and "
                "triples, makes the scores a second time, and nothing travels twice.",
)  # fmt: skip
