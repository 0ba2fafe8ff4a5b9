"""Chapter 14, exercise 14.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex03 import oracle as of
from shardlab_course.ch14.shared import PROMISE
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

REDUCTION = (
    WrongProgram(
        "left-to-the-compiler",
        "Something is left to the compiler. Perhaps arrays are summed outside shard_map, or in_specs do not cut X as it "
        "comes. Choose the steps yourself, inside shard_map.",
        1, when=lambda o: not o.manual),
    PROMISE,
    WrongValues(
        "one-axis-only",
        "The terms were added along one mesh axis only, so each host, or each place in a host, has a different sum.",
        1, when=lambda o: of.one_axis(o, "dcn") or of.one_axis(o, "ici")),
    WrongValues("mean-instead-of-sum", "The exercise asks for the sum of the devices' rows, not their mean.",
    1, like=of.averaged),
    WrongValues("never-reduced", "Each device returned its own row; nothing was added.", 1, local=of.own_host),
    WrongCost(
        "full-bytes-on-slow-axis",
        "Every device sends a whole row along dcn: let the devices of a host divide the row's sum among them first, and let "
        "each send one part.",
        1, when=lambda o: of.is_sum(o) and of.sends_whole(o)),
    WrongCost(
        "scattered-over-the-slow-axis",
        "Whole rows are scattered over dcn, so they cross it before they are small: scatter over ici first.",
        2, when=of.scatters_whole),
    WrongCost(
        "gathers-over-the-slow-axis", "An all-gather over dcn brings every device the terms of each host. Perhaps they are "
        "added afterwards: let psum add them on their way.",
        2, when=lambda o: of.pieces(o, "dcn", "all-gather") and not of.scatters_over(o, "dcn")
        and not of.pieces(o, "dcn", "all-to-all") and not of.pieces(o, "dcn", "all-reduce")),
    WrongCost(
        "one-flat-group",
        "One collective over all devices at once moves whole rows in groups that cross dcn; the fast wires should make "
        "them small first.",
        1, when=lambda o: of.is_sum(o) and of.flat(o)),
    WrongCost(
        "whole-rows-in-a-ring",
        "A ring that crosses dcn sends something along it in every round. Together that is more than a sum of parts "
        "needs, if each part is first summed within its host.",
        2, when=lambda o: of.rounds(o) > len(o.case.axes)),
    WrongCost(
        "sums-whole-rows-then-cuts",
        "Little crosses dcn, but over ici every device gets the sum of whole rows: psum_scatter at the start and "
        "all_gather at the end cost half of that each.",
        3, when=lambda o: of.is_sum(o) and of.cuts_after(o)),
)  # fmt: skip

QUESTION = Question(
    "14.3", "A sum that spares the slow wire", difficulty=4, minutes=45,
    known_as="a hierarchical all-reduce (Goyal and others, 2017)",
    items=(
        ProgramItem("all_reduce", {"V": 2, "S": 2, "H": 9}, oracle=of.summed,
                    misconceptions=REDUCTION, manual=True,
                    tolerance="float32 sums in another order",
                    cases=(of.reduction(of.WIRES, 1024), of.reduction(of.FEW_WIRES, 96)), draw=of.draw_reduction),
    ),
    hints=(
        "After a sum over ici all devices of a host hold the same row. Must each of them send all of it?",
        "If each device of a host had the sum of one part of the row, it could send that part, and no byte would cross "
        "twice. Which collective sums and cuts at once?",
        "psum_scatter over ici, psum over dcn, all_gather over ici. The first and the last are tiled, and the last has "
        "to='invarying'.",
    ),
    explanation="The terms of one host are added over its own wires, and each device keeps one part of the sum. Then each "
                "device exchanges its part with the devices at the same place in other hosts: a quarter of the row with "
                "four devices per host. Finally the parts are gathered, over the fast wires again.\n\nOn 2 by 4 with 4096 B "
                "rows the payload along dcn is 1024 B instead of 4096. Two psums, first over ici and then over dcn, are "
                "right and look hierarchical, but every device of a host sends the same 4096 B. With two hosts, each must "
                "send at least one row, and the three steps send exactly that (with four hosts, in rings, a row and a "
                "half). An all-reduce is a reduce-scatter and an all-gather, and here the slow sum comes between the two.",
)  # fmt: skip
