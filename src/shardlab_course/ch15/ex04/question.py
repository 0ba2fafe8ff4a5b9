"""Chapter 15, exercise 15.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from functools import partial

from shardlab_course.ch15.ex04 import oracle as of
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues


def _room_and(more: int, tokens: int, experts: int) -> int:
    return of.room(tokens, experts) + more


MIXTURE = (
    WrongValues(
        "tokens-over-expert-alone",
        "Tokens are cut over expert alone, so devices along other axes fill their places with the same tokens; "
        "P(mesh.axis_names, None) cuts them over all axes.",
        1, when=lambda o: o.placements[0].shape == o.case.inputs[0].shape
        and o.placements[0].shard_shape[0] * dict(o.case.axes)["expert"] == o.case.inputs[0].shape[0]
        and len(o.case.axes) > 1),
    LEFT,
    WrongProgram(
        "split-not-divisible",
        "all_to_all cuts the split dimension into a part for every device. On the way to the experts that is the experts, "
        "dimension 0; on the way back it is the senders' places, dimension 1.",
        3, error="all_to_all split_axis .* has to be divisible"),
    WrongValues(
        "nobody-is-dropped",
        "These are the answers without a limit: an expert takes room(tokens, experts) tokens of each device, and no more.",
        1, when=lambda o: of.mixed_as(o, most=lambda tokens, experts: tokens)),
    WrongValues(
        "room-for-all-devices",
        "The limit was counted over all devices' tokens together; each device fills its own places.",
        2, when=lambda o: of.mixed_as(o, 1)),
    WrongValues(
        "one-place-off",
        "The number of places is off by one: room rounds up, and a token's place is the number of its expert's tokens "
        "before it.",
        2, when=lambda o: any(of.mixed_as(o, most=partial(_room_and, s)) for s in (-1, 1))),
    WrongValues(
        "dropped-are-zero", "A token without a place keeps its own vector: the expert's answer is added to the token.",
        1, when=lambda o: of.mixed_as(o, residual=False)),
    WrongValues(
        "full-expert-answers",
        "Tokens without a place got the answer in the last place. Perhaps an index beyond the room was moved to it when it "
        "was read: mode='fill', fill_value=0 gives zeros instead.",
        3, when=of.neighbours),
    WrongValues(
        "not-weighted", "The expert's answer must be multiplied by the router's probability for that expert.",
        1, when=lambda o: of.mixed_as(o, weighted=False)),
    WrongValues(
        "own-experts-only", "Tokens did not travel: each device asked its own experts, whichever the router named.",
        1, local=of.own_experts),
    WrongValues(
        "back-to-another-place",
        "Tokens got the experts' answers to other tokens: undo the first all_to_all with split and concat exchanged, and "
        "read at the expert and place where you wrote.",
        3, when=of.shifted_back),
    WrongValues(
        "answers-stay-away", "There is one all_to_all, and two are needed: one takes tokens to their experts, the other "
        "brings the answers back.",
        1, when=lambda o: [c.kind for c in o.collectives] == ["all-to-all"], breaks=True),
    WrongCost(
        "all-tokens-gathered",
        "Tokens or answers are gathered over expert, and a device uses few of them: send each token to its expert's "
        "device, and its answer back, with all_to_all.",
        1, when=lambda o: of.gathers_tokens(o) and not of.gathers_experts(o)),
    WrongCost(
        "experts-gathered",
        "The experts' weights are brought to the tokens; with large experts, let tokens travel.",
        1, when=of.gathers_experts),
    WrongValues(
        "rows-added-up",
        "Answers were added up over expert, but the same row is a different token on every device. A token needs the answer "
        "of one expert, and has to travel to it.",
        1, when=of.added_up),
)  # fmt: skip

QUESTION = Question(
    "15.4", "Experts, places and two all-to-alls", difficulty=5, minutes=100, optional=True,
    known_as="expert parallelism with a capacity, as in GShard (Lepikhin and others, 2020)",
    items=(
        ProgramItem("moe", {"V": 16, "S": 4, "H": 12}, oracle=of.mixture(of.DEVICES), names=of.steps,
                    misconceptions=MIXTURE,
                    manual=True,
                    rtol=1e-3, atol=1e-3, tolerance="two float32 products, in another order",
                    cases=(of.routing(of.EXPERTS, 32, 6, 16), of.routing(of.FEW_EXPERTS, 40, 5, 14, 3)),
                    draw=of.draw_routing),
    ),
    hints=(
        "A device packs a parcel of equal size for every expert, with its empty places. What is the shape of all parcels "
        "together? Which dimension does all_to_all split?",
        "A token's place is the number of earlier tokens with the same expert: a cumulative sum of one-hot rows. Places "
        "beyond the room are dropped: x.at[...].set(..., mode='drop').",
        "parcels [E, room, D]; all_to_all(parcels, 'expert', 0, 1, tiled=True) is [E/n, n*room, D]. Apply two einsums. "
        "all_to_all with 1, 0 brings the answers back. Read them with .at[expert, place].get(mode='fill', fill_value=0).",
    ),
    explanation="Shapes are static and parcels have equal size, so the number of tokens that an expert takes is fixed "
                "before the tokens are known. That number is the capacity. Each device packs room places for each expert. "
                "all_to_all turns 'sorted by expert on every device' into 'sorted by device at every expert'. The same "
                "exchange with split and concat swapped brings the answers back to the places that the device remembers.\n\n"
                "The places move each way. They are about 1.25 times the device's tokens if an expert's share of them is "
                "large, and more where rounding up to a whole place counts, as for 64 experts and 24 tokens. Gathering "
                "moves all tokens, and the answers have to come back as well: with 24 tokens per device, and as many "
                "experts as devices, it costs more even on two devices. Empty places travel too, and full experts drop "
                "tokens, which keep their own vector. Training usually adds a loss that makes routers spread tokens evenly.",
)  # fmt: skip
