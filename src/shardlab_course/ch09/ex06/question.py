"""Chapter 9, exercise 9.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex06 import oracle as of
from shardlab_course.ch09.shared import INPUT_CUT, cut
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.question import Question, WrongCost, WrongValues

HEADS = (
    WrongValues(
        "heads-in-turn", "A group consists of neighbouring query heads: with 8 and 2, heads 0 to 3 read kv head 0.", 1,
        like=of.heads_with(reads="turn")),
    WrongValues(
        "all-heads-everywhere", "A device needs only the kv heads that its own query heads read.", 1,
        like=of.heads_with(keys="all")),
    WrongValues(
        "kv-heads-dealt-out", "With fewer kv heads than devices, your function gives some devices no kv head. But every "
        "query head reads a kv head, so several devices must hold the same one.", 2, like=of.heads_with(keys="even")),
    WrongValues(
        "one-head-each", "With fewer devices than kv heads, a device has several groups of query heads and reads one kv "
        "head for each group.", 2, like=of.heads_with(keys="first")),
    WrongValues(
        "groups-on-one-device", "You count the groups that fit on a device. But a group may lie on two devices: with 12, 3 "
        "and 2, device 0 has heads 0 to 5, which read kv heads 0 and 1.", 1, like=of.heads_with(keys="whole groups")),
    WrongValues(
        "even-share-of-kv-heads", "You deal out the kv heads, at least one to each device. But a group may lie on two "
        "devices, and then both read its kv head.", 1, like=of.heads_with(keys="even or one")),
    WrongValues(
        "listed-more-than-once", "A device holds a kv head once, however many of its query heads read it.", 1,
        like=of.heads_with(keys="each")),
)  # fmt: skip
LAYOUT = (
    WrongCost(
        "kv-whole", "Every device holds all kv heads. It needs one.", 1,
        letters="MF", when=lambda o: not any(cut(o, i, d) for i in (2, 3) for d in (0, 1, 2))),
    WrongCost(
        "axes-in-wrong-order", "`rep` comes first, so neighbouring query heads are on devices with different kv heads, "
        "and some of them read a kv head that is on another device.", 3, letters="SHF", when=of.swapped),
    WrongCost(
        "heads-cut-inside", "The vector of a head is cut. Then the scores are terms of a sum, and the softmax has to wait "
        "for that sum.", 2,
        letters="SHF", when=lambda o: cut(o, 1, 2)),
    WrongCost(
        "keys-cut-too-finely", "Wk or Wv is cut inside a head or along D. Then either that weight or the keys or values of "
        "every token have to be sent.", 2,
        letters="SHF", when=lambda o: any(cut(o, i, d) for i in (2, 3) for d in (0, 2))),
    WrongCost(
        "queries-over-kv-only", "The heads of Wq are cut over `kv` alone, so the devices along `rep` share query heads.", 2,
        letters="MF", when=lambda o: o.case.inputs[1].spec[1:2] == ("kv",)),
    INPUT_CUT,
    WrongCost(
        "output-weight-not-by-heads", "Wo is not cut over its heads. A device needs the rows of its own query heads, and no "
        "others.", 3, when=lambda o: not cut(o, 4, 0)),
)  # fmt: skip

QUESTION = Question(
    "9.6", "More devices than key heads", difficulty=4, minutes=50,
    known_as="grouped-query attention, here in tensor parallelism (Ainslie and others, 2023)",
    items=(
        CallsItem("heads", {"V": 6}, oracle=of.heads, draw=of.draw_heads_call, drawn=20,
                  misconceptions=HEADS,
                  calls=((8, 8, 8), (8, 2, 8), (8, 2, 2), (12, 4, 2), (16, 4, 8), (6, 1, 3), (12, 3, 2), (12, 3, 4))),
        LayoutItem("layout", {"S": 2, "H": 3.5, "M": 3.5, "F": 2}, function=of.attention, misconceptions=LAYOUT,
                   draw=of.draw_heads,
                   reference={"X": [], "Wq": [None, ["kv", "rep"]], "Wk": [None, "kv"], "Wv": [None, "kv"],
                              "Wo": [["kv", "rep"]]},
                   cases=(of.head_sizes(axes(kv=2, rep=4), 16, 32, 8, 4),
                          of.head_sizes(axes(kv=4, rep=2), 8, 32, 16, 4))),
    ),
    hints=(
        "Deal out the query heads first, in order. Then write beside each device the kv heads that its query heads read.",
        "With fewer kv heads than devices, several devices hold the same kv head. One axis of the mesh tells kv heads "
        "apart, the other makes copies.",
        "Query heads over ('kv', 'rep'), with the slower axis first, in Wq and in Wo. kv heads over 'kv' alone, in Wk and "
        "Wv. X stays whole.",
    ),
    explanation="Query head h reads kv head h·kv // q. If the query heads are dealt out in order, those of neighbouring "
                "devices read the same kv head, so these n / kv devices hold copies of it. A mesh says this with two axes "
                "instead of one: `kv` tells the kv heads apart, `rep` makes copies. The query heads are cut over both, "
                "with `kv` first, because the heads of one group are neighbours.\n\nSuppose that `rep` comes first, with 8 "
                "devices and 2 key heads. Then only 4 devices get query heads of the group whose key head they hold, so "
                "keys have to be sent. With a cut inside a head each device holds less, but keys and values, or scores, "
                "have to move for every token. With more devices than kv heads, a finer cut by whole heads makes neither "
                "the keys and values nor their cache any smaller.",
)  # fmt: skip
