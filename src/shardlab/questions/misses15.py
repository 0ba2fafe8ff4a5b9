"""Chapter 15's known wrong answers, of the exercises that build."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from shardlab.question import Miss
from shardlab.questions import oracles15 as of
from shardlab.questions.oracles10 import wide

LEFT = Miss("left-to-the-compiler",
            "On global arrays the compiler communicates for you; here you write what one device does, in shard_map.",
            1, when=lambda o: not o.manual)  # fmt: skip


def promise(cause: str, hint: int = 2) -> Miss:
    """The promise of equal copies that JAX could not prove, with the cause that this exercise gives it."""
    return Miss("promise-not-proved", cause, hint, error="can't be statically inferred")


TRAIN = (
    LEFT,
    promise("Something varies still over an axis that out_specs does not name: a sum over model, or the mean over data, is "
            "missing on the way to it."),
    Miss("own-shape-for-the-whole",
         "Inside shard_map a shape is the block's: scaled by the device's own heads or hidden units, a sum over all of them "
         "comes out too large.",
         1, when=of.scaled_by_share),
    Miss("own-vocabulary",
         "Each device takes its own columns of the logits for the whole vocabulary; the sum of exponentials, and the right "
         "token's logit, are sums over model.",
         2, when=of.own_vocabulary),
    Miss("own-token-numbers",
         "Token numbers are those of the whole vocabulary; a device's first column is number axis_index('model') times its "
         "columns.",
         3, when=of.own_token_numbers),
    Miss("terms-not-summed",
         "After the heads, or after the hidden units, each device has terms; sum them over model before anything not "
         "linear, such as the norm.",
         1, when=of.own_terms),
    Miss("gradient-summed-twice",
         "The gradients are as many times too large as there are devices: jax.grad has summed them already, because the "
         "weights do not vary.",
         2, when=of.too_large),
    Miss("losses-after-the-step", "These are the losses after each step; report the loss that each step starts from.",
         1, when=lambda o: of.losses_like(o, of.trained(after=True))),
    Miss("momentum-forgotten", "The speeds do not build up: each step keeps 0.9 of the speed before it.",
         1, when=lambda o: of.losses_like(o, of.trained(keep=0))),
    Miss("uphill", "The loss grows, because the weights move along the gradient; subtract it.",
         1, when=lambda o: of.losses_like(o, of.trained(rate=-of.RATE))),
    Miss("sum-instead-of-mean", "The loss is a mean over tokens; psum of the devices' means is as many times too large.",
         1, when=lambda o: _ratio(o) > 1.5),
    Miss("one-step", "The answer is that of one step; five are asked for, one loss each.",
         1, when=lambda o: o.placements[0].shape in ((), (1,))),
    Miss("speeds-whole",
         "The training is right, but some device keeps the speeds of weights that it does not hold.",
         3, when=lambda o: of.right_losses(o) and of.whole_speeds(o)),
    Miss("logits-gathered",
         "The logits of the whole vocabulary are brought together; the loss needs two numbers a token, and both are sums.",
         2, when=lambda o: any(of.VOCABULARY in s[-1:] and len(s) > 2 for s in of.moved(o, "all-gather"))),
    Miss("weights-gathered",
         "Weights that are cut are brought together, and every device computes with all of them: let in_specs cut them as "
         "they lie.",
         1, when=lambda o: "all-gather" in o.kinds),
)  # fmt: skip


def _ratio(o: Any) -> float:
    right = of.trained()(o.inputs[0], *wide(o)[1:])[0][0]
    return float(o.shards[0][0][2][0]) / float(right)


BILL = (
    Miss("cut-weights-counted-whole",
         "A model axis of m leaves each device an m-th of every weight that is cut; only the embedding stays whole.",
         1, like=lambda data, model, *rest: [_whole(data, model, *rest), *of.bill(data, model, *rest)[1:]]),
    Miss("whole-batch",
         "A device has the tokens of its own part of the batch, and sums over model move these only.",
         1, like=lambda data, model, *rest: _whole_batch(data, model, *rest)),
    Miss("collectives-on-one-device",
         "An axis of one device moves nothing over it.",
         1, like=lambda data, model, *rest: _always(data, model, *rest)),
    Miss("forward-only",
         "The backward step has sums over model too, as many as the forward step: each copy's transpose.",
         2, like=lambda *given: _forward(*given)),
    Miss("whole-gradients-travel",
         "Over data each device sums the gradients of the weights that it holds, and of no others.",
         2, like=lambda data, model, *rest: _whole_gradients(data, model, *rest)),
)  # fmt: skip


def _forward(data: int, model: int, batch: int, length: int, depth: int, layers: int, *rest: int) -> list[float]:
    held, _, over_data = of.bill(data, model, batch, length, depth, layers, *rest)
    return [held, 4 * layers * batch // data * length * depth * (model > 1), over_data]


def _whole(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> float:
    return of.bill(data, 1, batch, length, depth, layers, vocabulary)[0]


def _whole_batch(data: int, model: int, batch: int, *rest: int) -> list[float]:
    held, over_model, _ = of.bill(1, model, batch, *rest)
    return [held, over_model, of.bill(data, model, batch, *rest)[2]]


def _always(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    given = batch, length, depth, layers, vocabulary
    tokens = batch // data * length
    weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
    return [of.bill(data, model, *given)[0], 2 * (4 * layers + 1) * tokens * depth, 2 * weights]


def _whole_gradients(data: int, model: int, *rest: int) -> list[float]:
    return [*of.bill(data, model, *rest)[:2], of.bill(data, 1, *rest)[2]]


CHOICE = (
    Miss("memory-ignored", "The mesh with the fewest bytes to move does not fit: leave out what is larger than the memory.",
         1, like=lambda devices, memory, *rest: of.choice(devices, float("inf"), *rest)),
    Miss("always-data", "That is data parallelism wherever it fits. A small batch moves less over model.",
         2, like=lambda *given: _first_that_fits(given, reverse=False)),
    Miss("always-model", "That cuts the model as far as it goes. A large batch moves less over data.",
         2, like=lambda *given: _first_that_fits(given, reverse=True)),
    Miss("uneven-batch", "A batch that the data axis does not divide cannot be cut over it.",
         1, like=lambda *given: _uneven(*given)),
    Miss("least-memory", "That mesh holds least. Among those that fit, the one that moves least is asked for.",
         2, like=lambda *given: _least_memory(*given)),
)  # fmt: skip


def _first_that_fits(given: tuple[Any, ...], *, reverse: bool) -> list[int] | None:
    devices, memory, batch, *rest = given
    for model in sorted((m for m in range(1, devices + 1) if devices % m == 0), reverse=reverse):
        data = devices // model
        if batch % data == 0 and of.bill(data, model, batch, *rest)[0] <= memory:
            return [data, model]
    return None


def _uneven(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0]
    fits = [(sum(b[1:]), m) for d, m in meshes if (b := of.bill(d, m, batch, *rest))[0] <= memory]
    return [devices // min(fits)[1], min(fits)[1]] if fits else None


def _least_memory(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]
    held = [(of.bill(d, m, batch, *rest)[0], d, m) for d, m in meshes]
    fits = [entry for entry in held if entry[0] <= memory]
    return list(min(fits)[1:]) if fits else None


BUBBLE = (
    Miss("no-bubble-at-m-equal-s",
         "With as many microbatches as stages all stages are busy in one tick only; filling and draining take S - 1 ticks, "
         "whatever M is.",
         1, like=lambda got: float(got["four"]) == 0),
    Miss("idle-over-useful",
         "That is idle time for each unit of useful time, (S - 1) / M; the share of the whole time has all ticks below the "
         "line.",
         2, like=lambda got: abs(float(got["four"]) - 3 / 4) < 0.01),
    Miss("one-tick-too-many",
         "All is done in M + S - 1 ticks: the last microbatch enters in tick M and has S - 1 more to go.",
         1, like=lambda got: abs(float(got["four"]) - 4 / 8) < 0.01),
    Miss("busy-not-idle", "That is the share of the time in which a stage works; the idle share was asked for.",
         1, like=lambda got: abs(float(got["four"]) - 4 / 7) < 0.01),
)  # fmt: skip

PIPELINE = (
    LEFT,
    promise("Only the last stage knows the loss: a psum over stage, with zeros from all others, tells everybody.", 3),
    Miss("carry-does-not-vary",
         "The loop's carry starts as the same zeros everywhere and comes out varying over stage; cast it to varying before "
         "the loop.",
         3, error="scan body function carry|carry input and carry output must have equal types|pcast"),
    Miss("weights-gathered",
         "Weights are brought to the tokens, as in FSDP; in a pipeline weights stay, and what moves is a microbatch.",
         1, when=lambda o: any(s[-2:] == o.case.inputs[0].shape[-2:] and s != o.case.inputs[1].shape[1:]
                               for s in of.moved(o, "all-gather"))),
    Miss("stops-after-m-rounds",
         "After M ticks the last S - 1 microbatches are still under way; the loop takes M + S - 1.",
         1, when=of.missing_end),
    Miss("warm-up-counted",
         "In the first S - 1 ticks the last stage has nothing to compare yet; what it makes of zeros must not count.",
         2, when=of.warming_up),
    Miss("other-mean",
         "The loss is the mean over all microbatches, rows and columns; this one is divided by another number.",
         1, when=of.scaled_loss),
    Miss("every-stage-counted",
         "Every stage compared what it had with the targets; only the last stage's output is the model's.",
         2, when=of.every_stage),
    Miss("gradient-scaled",
         "The loss is right and the gradients are a whole factor off: the sum over stage was differentiated once more, or "
         "averaged.",
         3, when=of.scaled_gradient),
    Miss("whole-batch-travels",
         "All microbatches go from stage to stage together, so one stage works at a time, and each hop carries the batch.",
         1, when=lambda o: "collective-permute" in o.kinds and of.hop_elements(o) >= _numbers(o)),
    Miss("outputs-broadcast",
         "The outputs of the last stage are brought to every device; the loss is one number, and it is enough.",
         3, when=lambda o: any(math.prod(s) >= _numbers(o) for kind in ("all-reduce", "all-gather")
                               for s in of.moved(o, kind))),
)  # fmt: skip


def _numbers(o: Any) -> int:
    return int(math.prod(o.case.inputs[1].shape))


def _room_and(more: int, tokens: int, experts: int) -> int:
    return of.room(tokens, experts) + more


MIXTURE = (
    LEFT,
    Miss("nobody-is-dropped",
         "These are the answers without a limit: an expert takes room(tokens, experts) tokens of each device, and no more.",
         1, when=lambda o: of.mixed_as(o, most=lambda tokens, experts: tokens)),
    Miss("room-for-all-devices",
         "The limit was counted over all devices' tokens together; each device fills its own places, or somebody must tell "
         "it how many are left.",
         2, when=lambda o: of.mixed_as(o, 1)),
    Miss("one-place-off", "The number of places is off by one: a token's place is the number of tokens before it.",
         2, when=lambda o: any(of.mixed_as(o, most=partial(_room_and, s)) for s in (-1, 1))),
    Miss("dropped-are-zero", "A token without a place keeps its own vector: the expert's answer is added to the token.",
         1, when=lambda o: of.mixed_as(o, residual=False)),
    Miss("not-weighted", "The expert's answer counts as much as the router's probability for it.",
         1, when=lambda o: of.mixed_as(o, weighted=False)),
    Miss("own-experts-only", "Tokens did not travel: each device asked its own experts, whichever the router named.",
         1, local=of.own_experts),
    Miss("back-to-another-place",
         "The answers are right and came back to other tokens: undo the first all_to_all with split and concat exchanged.",
         3, when=of.shifted_back),
    Miss("all-tokens-gathered",
         "Every device gets every token, and uses few of them: send each token to its expert's device, with all_to_all.",
         1, when=lambda o: any(s[-1] == o.case.inputs[0].shape[1] and len(s) >= 2 for s in of.moved(o, "all-gather"))
         and not _gathers_experts(o)),
    Miss("experts-gathered",
         "The experts' weights are brought to the tokens; where the experts are large, tokens are what should travel.",
         1, when=lambda o: _gathers_experts(o)),
    Miss("every-expert-for-every-token",
         "Each device runs its experts on tokens that are not theirs and adds everything up; a token has one expert.",
         1, when=lambda o: "all-to-all" not in o.kinds and o.kinds & {"all-reduce", "reduce-scatter"}),
)  # fmt: skip


def _gathers_experts(o: Any) -> bool:
    hidden = o.case.inputs[2].shape[2]
    width = o.case.inputs[0].shape[1]
    return any(len(s) >= 3 and set(s[-2:]) == {hidden, width} for s in of.moved(o, "all-gather"))
