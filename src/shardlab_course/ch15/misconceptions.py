"""Chapter 15's misconceptions: known wrong answers to the exercises that build, and what is said of each."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from shardlab_course.ch15 import budget, mixture, pipeline, transformer
from shardlab_course.shared.manual import LEFT
from shardlab_judge.question import Misconception

CARRY = r"(?s)carry.*manual axis types do not match"
"""In the error of a loop: what comes out varies over other mesh axes than what went in."""


def promise(cause: str, hint: int = 2) -> Misconception:
    """The promise of equal copies that JAX could not prove, with the cause that this exercise gives it."""
    return Misconception("promise-not-proved", cause, hint, error="can't be statically inferred")


TRAIN = (
    Misconception(
        "speeds-whole", "Some device keeps the speeds of weights that it does not hold.",
        3, when=lambda o: transformer.right_losses(o) and transformer.whole_speeds(o)),
    Misconception(
        "tokens-gathered",
        "Every device gets the whole batch; with tokens cut over data in in_specs, each works on its own sequences.",
        1, when=lambda o: any(math.prod(s) == o.inputs[0].size for s in transformer.moved(o, "all-gather"))),
    LEFT,
    promise("Something varies still over an axis that out_specs does not name: a sum over model or the mean over data is "
            "missing on the way to it, an all_gather lacks to='invarying', or it is cut and out_specs does not say so."),
    Misconception(
        "maximum-differentiated",
        "The maximum only keeps exponentials small and has no part in the gradient: put stop_gradient inside of pmax.",
        3, error="Differentiation rule for 'pmax'"),
    Misconception(
        "carry-does-not-vary",
        "Something that the loop carries varies over other axes when it goes in than when it comes out. Speeds made with "
        "zeros_like from the blocks vary as the blocks do; jnp.zeros of a shape varies nowhere.", 3, error=CARRY),
    Misconception(
        "own-shape-for-the-whole",
        "Inside shard_map a shape is the block's: scaled by the device's own heads or hidden units, a sum over all of them "
        "comes out too large.", 1, when=transformer.scaled_by_share),
    Misconception(
        "own-vocabulary",
        "Each device takes its own columns of the logits for the whole vocabulary; the sum of exponentials, and the right "
        "token's logit, are sums over model.", 2, when=transformer.own_vocabulary),
    Misconception(
        "own-token-numbers",
        "Token numbers are those of the whole vocabulary; a device's first column is number axis_index('model') times its "
        "columns.", 3, when=transformer.own_token_numbers),
    Misconception(
        "terms-not-summed",
        "After the heads, or after the hidden units, each device has terms; sum them over model before anything not "
        "linear, such as the norm.", 1, when=transformer.own_terms),
    Misconception(
        "gradient-summed-twice",
        "The steps are as many times too large as there are devices along an axis, or along both. If the rate is right, "
        "the gradients are: with the check on, jax.grad sums over an axis along which the weights do not vary; with it "
        "off, a psum is a sum again on the way back. Leave it on, differentiate the mean over all devices, and add no "
        "gradients up after it.", 2, when=transformer.too_large),
    Misconception(
        "losses-after-the-step", "These are the losses after each step; report the loss that each step starts from.",
        1, when=lambda o: transformer.losses_like(o, transformer.trained(after=True))),
    Misconception(
        "momentum-forgotten", "The speeds do not build up: each step keeps 0.9 of the speed before it.",
        1, when=lambda o: transformer.losses_like(o, transformer.trained(keep=0))),
    Misconception(
        "uphill", "The loss grows, because the weights move along the gradient; subtract it.",
        1, when=lambda o: transformer.losses_like(o, transformer.trained(rate=-transformer.RATE))),
    Misconception(
        "sum-instead-of-mean", "The loss is a mean over tokens; psum of the devices' means is as many times too large.",
        1, when=transformer.summed_loss),
    Misconception(
        "gradients-wrong",
        "The first loss is right, and with it all of the forward pass; gradients, speeds or steps are not. With "
        "check_vma=False, jax.grad cannot know which sums over devices are missing.",
        2, when=transformer.right_first_loss),
    Misconception(
        "one-loss", "`losses` is one number; five are asked for: the loss that each of the five steps starts from.",
        1, when=lambda o: o.placements[0].shape in ((), (1,))),
    Misconception(
        "logits-gathered",
        "The logits of the whole vocabulary are brought together; the loss needs three numbers a token: a maximum and two "
        "sums.",
        2, when=lambda o: any(transformer.VOCABULARY in s[-1:] and len(s) > 2 for kind in ("all-gather", "all-reduce")
                              for s in transformer.moved(o, kind))),
    Misconception(
        "weights-gathered",
        "Weights that are cut are brought together, and every device computes with all of them: let in_specs cut them as "
        "they lie.",
        1, when=transformer.gathered_weight),
)  # fmt: skip


BILL = (
    Misconception(
        "cut-weights-counted-whole",
        "A model axis of m leaves each device an m-th of every weight that is cut; only the embedding stays whole.",
        1, like=lambda data, model, *rest: [_whole(data, model, *rest), *budget.costs(data, model, *rest)[1:]]),
    Misconception(
        "whole-batch", "A device has the tokens of its own part of the batch, and sums over model move these only.",
        1, like=lambda data, model, *rest: _whole_batch(data, model, *rest)),
    Misconception(
        "collectives-on-one-device", "An axis of one device moves nothing over it.",
        1, like=lambda data, model, *rest: _always(data, model, *rest)),
    Misconception(
        "forward-only",
        "The backward step has sums over model too, one for each copy: two a layer, and one before the vocabulary.",
        2, like=lambda *given: _forward(*given)),
    Misconception(
        "embedding-cut", "The embedding is whole on every device: of its weights none are cut over model.",
        1, like=lambda *given: _embedding_cut(*given)),
    Misconception(
        "vocabulary-forgotten", "Before U one more sum of vectors crosses model: one in all, not one a layer.",
        2, like=lambda *given: _layers_alone(*given)),
    Misconception(
        "sent-bytes", "These are twice the payload: it is counted once, however often an all-reduce passes it on.",
        2, like=lambda *given: [budget.costs(*given)[0], *(2 * n for n in budget.costs(*given)[1:])]),
    Misconception(
        "whole-gradients-travel", "Over data each device sums the gradients of the weights that it holds, and of no others.",
        2, like=lambda data, model, *rest: _whole_gradients(data, model, *rest)),
)  # fmt: skip


def _forward(data: int, model: int, batch: int, length: int, depth: int, layers: int, *rest: int) -> list[float]:
    held, _, over_data = budget.costs(data, model, batch, length, depth, layers, *rest)
    return [held, 4 * layers * batch // data * length * depth * (model > 1), over_data]


def _whole(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> float:
    return budget.costs(data, 1, batch, length, depth, layers, vocabulary)[0]


def _whole_batch(data: int, model: int, batch: int, *rest: int) -> list[float]:
    held, over_model, _ = budget.costs(1, model, batch, *rest)
    return [held, over_model, budget.costs(data, model, batch, *rest)[2]]


def _always(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    given = batch, length, depth, layers, vocabulary
    tokens = batch // data * length
    weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
    return [budget.costs(data, model, *given)[0], 2 * (4 * layers + 1) * tokens * depth, 2 * weights]


def _embedding_cut(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    held, over_model, over_data = budget.costs(data, model, batch, length, depth, layers, vocabulary)
    whole = vocabulary * depth - vocabulary * depth / model
    return [held - 6 * whole, over_model, over_data - 2 * whole * (data > 1)]


def _layers_alone(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    held, over_model, over_data = budget.costs(data, model, batch, length, depth, layers, vocabulary)
    return [held, over_model * 4 * layers / (4 * layers + 1), over_data]


def _whole_gradients(data: int, model: int, *rest: int) -> list[float]:
    return [*budget.costs(data, model, *rest)[:2], budget.costs(data, 1, *rest)[2]]


CHOICE = (
    Misconception(
        "memory-ignored", "The mesh with the fewest bytes to move does not fit: leave out what is larger than the memory.",
        1, like=lambda devices, memory, *rest: budget.choice(devices, float("inf"), *rest)),
    Misconception(
        "always-data", "That is data parallelism wherever it fits. A small batch moves less over model.",
        2, like=lambda *given: _first_that_fits(given, reverse=False)),
    Misconception(
        "always-model", "That cuts the model as far as it goes. A large batch moves less over data.",
        2, like=lambda *given: _first_that_fits(given, reverse=True)),
    Misconception(
        "other-order", "The axes are the other way round: [data, model] is asked for.",
        1, like=lambda *given: (budget.choice(*given) or [])[::-1] or None),
    Misconception(
        "larger-axis-alone", "Bytes over both axes count together; this mesh has the smallest on its busier axis.",
        2, like=lambda *given: _busier(*given)),
    Misconception(
        "powers-of-two-only", "A mesh axis may have 3 devices, or 6: try every number that divides the devices.",
        2, like=partial(budget.choice, halved=True)),
    Misconception(
        "tie", "Where two meshes move the same, the one with the smaller model is asked for.",
        3, like=lambda *given: _busier(*given, largest=False)),
    Misconception(
        "exact-fit-refused", "What needs just as many bytes as there are fits: at most, not less than.",
        1, like=partial(budget.choice, below=True)),
    Misconception(
        "nothing-fits", "Where no mesh fits there is nothing to take the smallest of: return None.",
        3, error="empty sequence|argument is empty|empty iterable|index out of range"),
    Misconception(
        "uneven-batch", "A batch that the data axis does not divide cannot be cut over it.",
        1, like=lambda *given: _uneven(*given)),
    Misconception(
        "least-memory", "That mesh holds least. Among those that fit, the one that moves least is asked for.",
        2, like=lambda *given: _least_memory(*given)),
)  # fmt: skip


def _first_that_fits(given: tuple[Any, ...], *, reverse: bool) -> list[int] | None:
    devices, memory, batch, *rest = given
    for model in sorted((m for m in range(1, devices + 1) if devices % m == 0), reverse=reverse):
        data = devices // model
        if batch % data == 0 and budget.costs(data, model, batch, *rest)[0] <= memory:
            return [data, model]
    return None


def _busier(devices: int, memory: float, batch: int, *rest: int, largest: bool = True) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]
    candidates = [(budget.costs(d, m, batch, *rest), d, m) for d, m in meshes]
    count, sign = (max, 1) if largest else (sum, -1)
    fits = [(count(moved), sign * m, d, m) for (held, *moved), d, m in candidates if held <= memory]
    return list(min(fits)[2:]) if fits else None


def _uneven(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0]
    fits = [(sum(b[1:]), m) for d, m in meshes if (b := budget.costs(d, m, batch, *rest))[0] <= memory]
    return [devices // min(fits)[1], min(fits)[1]] if fits else None


def _least_memory(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]
    held = [(budget.costs(d, m, batch, *rest)[0], d, m) for d, m in meshes]
    fits = [entry for entry in held if entry[0] <= memory]
    return list(min(fits)[1:]) if fits else None


def _near(got: Any, four: float, sixteen: float) -> bool:
    return abs(float(got["four"]) - four) < 0.01 and abs(float(got["sixteen"]) - sixteen) < 0.01


BUBBLE = (
    Misconception(
        "no-bubble-at-m-equal-s",
        "With as many microbatches as stages all stages are busy in one tick only: each is idle for S - 1 ticks, whatever "
        "M is.",
        1, like=lambda got: float(got["four"]) == 0),
    Misconception(
        "idle-over-useful",
        "That is idle time for each unit of useful time, (S - 1) / M; the share of the whole time has all ticks below the "
        "line.",
        2, like=lambda got: _near(got, 3 / 4, 3 / 16)),
    Misconception(
        "one-tick-too-many",
        "All is done in M + S - 1 ticks: the last microbatch enters in tick M and has S - 1 more to go.",
        1, like=lambda got: _near(got, 4 / 8, 4 / 20)),
    Misconception(
        "busy-not-idle", "That is the share of the time in which a stage works; the idle share was asked for.",
        1, like=lambda got: _near(got, 4 / 7, 16 / 19)),
)  # fmt: skip

PIPELINE = (
    LEFT,
    promise("What out_specs calls equal varies still over the axis in the message. Only the last stage knows the loss: a "
            "psum, with zeros from all others, tells everybody. A stage's gradient is its own, and lies as W does.", 3),
    Misconception(
        "carry-does-not-vary",
        "The loop's carry starts as the same zeros everywhere and comes out varying over stage; cast it to varying before "
        "the loop.",
        3, error=CARRY),
    Misconception(
        "cast-again", "Weights that in_specs cut vary from the start; cast only what is the same on all devices.",
        3, error="Unsupported pcast"),
    Misconception(
        "branches-differ", "One branch varies over stage and the other does not: cast the constant, or take jnp.where.",
        3, error="(?s)branches must have equal output types.*pcast"),
    Misconception(
        "maximum-differentiated",
        "jax.grad has no rule for pmax. A psum over stage, with zeros from all but the last, brings the same number.",
        3, error="Differentiation rule for 'pmax'"),
    Misconception(
        "weights-gathered",
        "Weights are brought to the tokens, as in FSDP; in a pipeline weights stay, and what moves is a microbatch.",
        1, when=lambda o: any(s[-2:] == o.case.inputs[0].shape[-2:] and s != o.case.inputs[1].shape[1:]
                              for s in transformer.moved(o, "all-gather"))),
    Misconception(
        "stops-after-m-rounds", "After M ticks the last S - 1 microbatches are still under way; the loop takes M + S - 1.",
        1, when=pipeline.missing_end),
    Misconception(
        "warm-up-counted",
        "In the first S - 1 ticks the last stage has nothing to compare yet; what it makes of zeros must not count.",
        2, when=pipeline.warming_up),
    Misconception(
        "other-mean", "The loss is the mean over all microbatches, rows and columns; this one is divided by another number.",
        1, when=pipeline.scaled_loss),
    Misconception(
        "every-stage-counted",
        "Every stage compared what it had with the targets; only the last stage's output is the model's.",
        2, when=pipeline.every_stage),
    Misconception(
        "one-microbatch-missing",
        "One microbatch is missing in the loss: from zero, the first leaves the last stage in tick S - 1, the last in "
        "tick M + S - 2.",
        2, when=pipeline.one_missing),
    Misconception(
        "targets-of-the-tick",
        "In tick t the last stage finishes microbatch t - (S - 1); it was compared with the target of another.",
        2, when=pipeline.other_targets),
    Misconception(
        "gradient-scaled",
        "The loss is right and all gradients are off by one factor. If it is the number of stages, or one over it, the sum "
        "over stage was differentiated once more, or averaged.",
        3, when=pipeline.scaled_gradient),
    Misconception(
        "gradient-wrong",
        "The loss is right and the gradient is not. jax.grad of the pipeline gives each stage that of its own weight; no "
        "sum over stages is left to do.",
        3, when=pipeline.wrong_gradient),
    Misconception(
        "whole-batch-travels",
        "All microbatches go from stage to stage together, so one stage works at a time, and each hop carries the batch.",
        1, when=lambda o: "collective-permute" in o.kinds and pipeline.hop_elements(o) >= _numbers(o)),
    Misconception(
        "outputs-broadcast",
        "The outputs of the last stage are brought to every device; the loss is one number, and it is enough.",
        3, when=lambda o: any(math.prod(s) >= _numbers(o) for kind in ("all-reduce", "all-gather")
                              for s in transformer.moved(o, kind))),
)  # fmt: skip


def _numbers(o: Any) -> int:
    return int(math.prod(o.case.inputs[1].shape))


def _room_and(more: int, tokens: int, experts: int) -> int:
    return mixture.room(tokens, experts) + more


MIXTURE = (
    Misconception(
        "tokens-over-expert-alone",
        "Tokens are cut over expert alone, so devices along other axes fill their places with the same tokens; "
        "P(mesh.axis_names, None) cuts them over all.",
        1, when=lambda o: o.placements[0].shape == o.case.inputs[0].shape
        and o.placements[0].shard_shape[0] * dict(o.case.axes)["expert"] == o.case.inputs[0].shape[0]
        and len(o.case.axes) > 1),
    LEFT,
    Misconception(
        "split-not-divisible",
        "all_to_all cuts the split dimension into a part for every device. There that is the experts, dimension 0; on the "
        "way back it is the senders' places, dimension 1.",
        3, error="all_to_all split_axis .* has to be divisible"),
    Misconception(
        "nobody-is-dropped",
        "These are the answers without a limit: an expert takes room(tokens, experts) tokens of each device, and no more.",
        1, when=lambda o: mixture.mixed_as(o, most=lambda tokens, experts: tokens)),
    Misconception(
        "room-for-all-devices",
        "The limit was counted over all devices' tokens together; each device fills its own places, or somebody must tell "
        "it how many are left.",
        2, when=lambda o: mixture.mixed_as(o, 1)),
    Misconception(
        "one-place-off",
        "The number of places is off by one: room rounds up, and a token's place is how many of its expert's tokens lie "
        "before it.",
        2, when=lambda o: any(mixture.mixed_as(o, most=partial(_room_and, s)) for s in (-1, 1))),
    Misconception(
        "dropped-are-zero", "A token without a place keeps its own vector: the expert's answer is added to the token.",
        1, when=lambda o: mixture.mixed_as(o, residual=False)),
    Misconception(
        "full-expert-answers",
        "Tokens without a place got an answer: an index beyond the room is moved to the last place when it is read. "
        "mode='fill', fill_value=0 gives zeros there.",
        3, when=mixture.neighbours),
    Misconception(
        "not-weighted", "The expert's answer counts as much as the router's probability for it.",
        1, when=lambda o: mixture.mixed_as(o, weighted=False)),
    Misconception(
        "own-experts-only", "Tokens did not travel: each device asked its own experts, whichever the router named.",
        1, local=mixture.own_experts),
    Misconception(
        "back-to-another-place",
        "Tokens have experts' answers to other tokens: undo the first all_to_all with split and concat exchanged, and read "
        "at the expert and place that were written.",
        3, when=mixture.shifted_back),
    Misconception(
        "answers-stay-away", "There is one all_to_all: tokens travel to their experts, and the answers do not come back.",
        1, when=lambda o: [c.kind for c in o.collectives] == ["all-to-all"], breaks=True),
    Misconception(
        "all-tokens-gathered",
        "Every device gets every token, or every answer, and uses few of them: send each token to its expert's device, and "
        "its answer back, with all_to_all.",
        1, when=lambda o: mixture.gathers_tokens(o) and not mixture.gathers_experts(o)),
    Misconception(
        "experts-gathered",
        "The experts' weights are brought to the tokens; where the experts are large, tokens are what should travel.",
        1, when=mixture.gathers_experts),
    Misconception(
        "rows-added-up",
        "Answers were added up over expert, but the same row is another token on every device. A token needs the answer of "
        "one expert, and has to travel there.",
        1, when=mixture.added_up),
)  # fmt: skip
