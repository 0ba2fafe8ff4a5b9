"""Chapter 14, exercise 14.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex03 import oracle as of
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

REDUCTION = (
    WrongProgram(
        "left-to-the-compiler",
        "On global arrays, or by in_specs, the compiler chooses how to sum; choose the steps yourself, in shard_map.",
        1, when=lambda o: not o.manual),
    WrongProgram(
        "promise-not-proved",
        "out_specs promises equal copies, and JAX cannot prove that they are: along the axis in the message a sum is "
        "missing, or all_gather needs to='invarying'.",
        3, error="can't be statically inferred"),
    WrongValues(
        "one-axis-only",
        "The terms were added along one mesh axis only, so each host, or each place in a host, has a sum of its own.",
        1, when=lambda o: of.one_axis(o, "dcn") or of.one_axis(o, "ici")),
    WrongValues("mean-instead-of-sum", "The sum of the devices' rows is asked for, not their mean.", 1, like=of.averaged),
    WrongValues("never-reduced", "Each device returned its own row; nothing was added.", 1, local=of.own_host),
    WrongCost(
        "full-bytes-on-slow-axis",
        "Every device sends a whole row along dcn: let the devices of a host share out the row's "
        "sum first, and send a part each.",
        1, when=lambda o: of.is_sum(o) and of.sends_whole(o)),
    WrongCost(
        "scattered-over-the-slow-axis",
        "Whole rows are cut up over dcn, and so cross it before they are small: scatter over ici first.",
        2, when=of.scatters_whole),
    WrongCost(
        "gathers-over-the-slow-axis", "Hosts' terms are gathered over dcn and added afterwards, which brings the terms of "
        "each host to every device: let psum add them on their way.",
        2, when=lambda o: of.pieces(o, "dcn", "all-gather") and not of.scatters_over(o, "dcn")
        and not of.pieces(o, "dcn", "all-to-all")),
    WrongCost(
        "one-flat-group",
        "One collective over all devices at once moves whole rows in groups that cross dcn; the fast wires should make "
        "them small first.",
        1, when=lambda o: of.is_sum(o) and of.flat(o)),
    WrongCost(
        "whole-rows-in-a-ring",
        "A ring that crosses dcn sends something along it in every round, and together that is more than a sum of parts "
        "would take, each made within its host.",
        2, when=lambda o: of.rounds(o) > len(o.case.axes)),
    WrongCost(
        "sums-whole-rows-then-cuts",
        "dcn is spared, but over ici whole rows are summed on every device: psum_scatter on the way in and all_gather on "
        "the way out take half of that each.",
        3, when=lambda o: of.is_sum(o) and of.cuts_after(o)),
)  # fmt: skip

QUESTION = Question(
    "14.3", "A sum that spares the slow wire", difficulty=4, minutes=45,
    items=(
        ProgramItem("all_reduce", {"V": 0.5, "S": 0.5, "H": 2}, oracle=of.summed,
                    misconceptions=REDUCTION, manual=True,
                    tolerance="float32 sums in another order",
                    cases=(of.reduction(of.WIRES, 1024), of.reduction(of.FEW_WIRES, 96)), draw=of.draw_reduction),
    ),
    hints=(
        "After a sum over ici all devices of a host hold the same row. Must each of them send all of it?",
        "If each device of a host had the sum of one part of the row, each could send its part, and no byte would cross "
        "twice. Which collective sums and cuts at once?",
        "psum_scatter over ici, psum over dcn, all_gather over ici, both tiled, the last one with to='invarying'.",
    ),
    explanation="The terms of one host are added over its own wires, each device keeping one part of the sum. Then each "
                "device talks to the devices with the same place in other hosts, about its part only: a quarter of the row "
                "with four devices a host. At last the parts are gathered, over fast wires again.\n\nOn 2 by 4 with 4096 B "
                "rows that is 1024 B of payload along dcn instead of 4096. Two psums in a row, ici then dcn, are right and "
                "look hierarchical, and every device of a host sends the same 4096 B. With two hosts, what a host must send "
                "at least is one row: this way it sends exactly that (with four, in rings, a row and a half). All-reduce = "
                "reduce-scatter + all-gather, with something put between the two.",
)  # fmt: skip
