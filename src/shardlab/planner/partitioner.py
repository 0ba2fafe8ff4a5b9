"""What XLA's partitioner makes of a product on the CPU backend: rules read off compiled programs.

No part of XLA says these rules; each was found by compiling (JAX 0.10.2, 4 and 8 simulated devices), and tests/test_plan.py
holds the measurement beside each rule's name. What no rule covers is not guessed.
"""

from __future__ import annotations

from shardlab.planner.layouts import Entry
from shardlab.planner.work import Side, Unknown, Work

RULES = {
    "sum-instead-of-gather": "copies of the other array are sliced and the product, which is smaller, is all-reduced",
    "reduce-then-slice": "the CPU compiler makes no reduce-scatter: an all-reduce, then each device keeps its slice",
    "cut-moved-to-idle-axes": "the cut moves to the idle mesh axes by a collective-permute",
    "all-to-all-before-product": "the summed dimension's cut moves to the one that the output asks for by an all-to-all",
    "output-gathered": "the product is made in parts and then gathered",
    "sum-in-slices": "the idle mesh axes take slices of the sum, and a collective-permute brings them to their place",
}


class Partitioner(Work):
    """Applies the rules to one product."""

    def run(self) -> None:
        """Groups devices by what needs no talk, then settles what is left."""
        self._batch()
        self._slice_copies()
        self._keep_prefixes()
        for own, other in ((self.left, self.right), (self.right, self.left)):
            self._group(own, other)
        sums = self._matched_sums()
        self._need_plain()
        self._settle()
        late = self._slice_output(sums)
        if sums:
            self.note("all-reduce", self.out, self.out.cuts, sums)
        if late:
            self.note("collective-permute", self.out, self.out.cuts, (*sums, *self.idle))

    def _need_plain(self) -> None:
        """Where several cuts compete, rules are known for one summed dimension, and two axes of different sizes."""
        summed, sizes = self.product.summed, [size for _, size in self.product.axes]
        cut = [[n for n in summed if side.cuts[n]] for side in (self.left, self.right)]
        one, other = ({axis for n in names for axis in side.cuts[n]} for names, side in zip(cut, (self.left, self.right)))
        competing = (cut[0] and cut[1]) or (self.out.cut and (cut[0] or cut[1]))
        many = len(summed) > 1 or len(self.out.cuts) > 2 or len(sizes) > 2 or len(set(sizes)) < len(sizes)
        if (competing and many) or (one & other and len(summed) > 1) or max(map(len, cut)) > 1:
            raise Unknown
        if len(sizes) > 2 and (self.leftover or any(c.kind == "collective-permute" for c in self.sent)):
            raise Unknown

    def _slice_copies(self) -> None:
        """Copies are cut as the output is; not where a summed dimension has to be gathered: that comes first, and whole."""
        summed = self.product.summed
        if any(self.left.cuts[n] != self.right.cuts[n] for n in summed):
            return
        used = {axis for side in (self.left, self.right) for entry in side.cuts.values() for axis in entry}
        for side in (self.left, self.right):
            for name in side.cuts:
                wanted = self.out.cuts.get(name, ())
                if wanted and not side.cuts[name] and not set(wanted) & used:
                    side.cuts[name] = wanted

    def _keep_prefixes(self) -> None:
        """A dimension that the output wants cut by the first of several axes is gathered over the others."""
        for side in (self.left, self.right):
            for name, entry in side.cut.items():
                wanted = self.out.cuts.get(name, ())
                if wanted and wanted != entry and entry[: len(wanted)] == wanted:
                    self.trimmed = True
                    if len(self.product.axes) > 2:
                        raise Unknown
                    self.gather(side, name, wanted, entry[len(wanted) :])

    def _slice_output(self, sums: Entry) -> str:
        """Cuts of the output that no array has: idle axes compute a slice, others keep a slice of the finished sum.

        Returns:
            the dimension that idle axes slice in place of `sums`, whose slices must then be permuted.
        """
        for name, entry in self.out.cut.items():
            if set(entry) <= set(self.idle):
                if sums and len(self.product.axes) > 2:
                    raise Unknown
                self.take(name, entry)
        late = {name: entry for name, entry in self.out.cut.items()}
        self.out.cuts = dict.fromkeys(self.out.cuts, ())
        if not late:
            return ""
        name, entry = next(iter(late.items()))
        if sums == entry and not self.split.keys() - set(self.product.summed) and self.room(entry):
            self.rules.append("sum-in-slices")
            self.split[name] = entry
            return name
        if len(sums) > 1 and entry != sums:
            raise Unknown
        self.rules.append("reduce-then-slice")
        return ""

    def _batch(self) -> None:
        """Dimensions of all three arrays are cut alike or not at all; copies are sliced."""
        for name in self.left.layout.names:
            if name not in self.right.cuts or name not in self.out.cuts:
                continue
            entry = self.out.cuts[name]
            if any(side.cuts[name] not in ((), entry) for side in (self.left, self.right)):
                raise Unknown
            for side in (self.left, self.right):
                self.uneven |= side.cuts[name] != entry
                if not side.cuts[name] and set(entry) & {axis for e in side.cuts.values() for axis in e}:
                    raise Unknown
            self.take(name, entry)

    def _group(self, own: Side, other: Side) -> None:
        """Dimensions that stay and come out as they are cut: the other array gives up what it cuts by the same axes."""
        taken: Entry = ()
        for name in [n for n in own.cut if n not in other.cuts and n in self.out.cuts]:
            entry, wanted = own.cuts[name], self.out.cuts[name]
            if wanted[: len(entry)] == entry:
                self.take(name, entry)
                self.out.cuts[name] = wanted[len(entry) :]
                taken += entry
        for lost in [n for n in reversed(other.layout.names) if set(other.cuts[n]) & set(taken)]:
            if len(other.cut) > 1 and any(self.out.cuts.get(n) for n in own.layout.names):
                raise Unknown
            self._give_up(own, other, lost, taken)

    def _give_up(self, own: Side, other: Side, name: str, entry: Entry) -> None:
        """`other` stops cutting dimension `name` by the axes of `entry`."""
        had, stays = other.cuts[name], name in self.out.cuts
        rest = tuple(axis for axis in had if axis not in entry)
        if len(self.product.axes) > 2 and (rest or list(other.cut) != [name]):
            raise Unknown
        if not rest and list(other.cut) == [name] and self.room(had) and not self.trimmed:
            self._lend(other, name, had, stays)
        elif rest and self._useful(own, name, rest, stays):
            if had[: len(rest)] != rest:
                self.permute(other, name, had, had)
            self.gather(other, name, rest, tuple(axis for axis in had if axis in entry))
        else:
            self.gather(other, name, ())
            self.leftover |= stays and rest in [own.cuts.get(n) for n in self.product.summed if rest]

    def _lend(self, side: Side, name: str, had: Entry, stays: bool) -> None:
        self.rules.append("cut-moved-to-idle-axes")
        self.permute(side, name, had, self.idle)
        if stays and self.out.cuts[name] != self.idle:
            self.gather(side, name, ())
            self.lent = True

    def _useful(self, own: Side, name: str, rest: Entry, stays: bool) -> bool:
        """Whether a cut by the axes that remain is what the output asks for, or matches the summed dimension's other cut."""
        if stays:
            return rest == self.out.cuts[name]
        return rest == own.cuts.get(name) and rest not in self.out.cuts.values()

    def _matched_sums(self) -> Entry:
        """Summed dimensions that both arrays cut alike: terms of sums."""
        both = {n: self.left.cuts[n] for n in self.product.summed if self.left.cuts[n] == self.right.cuts[n] != ()}
        for name, entry in both.items():
            self.take(name, entry)
        return tuple(axis for entry in both.values() for axis in entry)

    def _settle(self) -> None:
        """What is left: one axis (or all idle ones together) by the table of cases, anything else by gathering."""
        cut = [(side, name) for side in (self.left, self.right, self.out) for name in side.cut]
        entries = {side.cuts[name] for side, name in cut}
        if len(entries) == 1 and set(cut[0][0].cuts[cut[0][1]]) == set(self.idle):
            self._one_axis(entries.pop())
            return
        for side in (self.left, self.right):
            self._shift_cut(side)
        for side in (self.left, self.right):
            for name in reversed(list(side.cut)):
                self.gather(side, name, ())

    def _shift_cut(self, side: Side) -> None:
        """A cut of a summed dimension moves to the dimension for which the output asks for it."""
        for name in [n for n in self.out.cut if n in side.cuts and not side.cuts[n]]:
            wanted = self.out.cuts[name]
            for had in [n for n in self.product.summed if side.cuts[n] and set(side.cuts[n]) <= set(wanted)]:
                entry = side.cuts[had]
                self._all_to_all(side, had, name, entry, wanted)
                if wanted[-len(entry) :] != entry:
                    self.permute(side, name, wanted, wanted)
                self.take(name, wanted)
                break

    def _one_axis(self, entry: Entry) -> None:
        left, right = (next(iter(side.cut), "") for side in (self.left, self.right))
        asked, summed = next(iter(self.out.cut), ""), self.product.summed
        if asked:
            own, other = (self.left, self.right) if asked in self.left.cuts else (self.right, self.left)
            had, lost = (left, right) if own is self.left else (right, left)
            if had and had != asked:
                self._all_to_all(own, had, asked, entry, entry)
            if lost:
                self.gather(other, lost, ())
            self.take(asked, entry)
        elif not (left and right):
            self._one_cut(*((self.left, left) if left else (self.right, right)), entry)
        elif left in summed or right in summed:
            gathered, name, kept = (self.left, left, right) if left in summed else (self.right, right, left)
            self.gather(gathered, name, ())
            self._gather_output(kept, entry)
        else:
            smaller = self.size(self.left, {}) <= self.size(self.right, {})
            gathered, name, kept = (self.left, left, right) if smaller else (self.right, right, left)
            self.gather(gathered, name, ())
            self._gather_output(kept, entry)

    def _one_cut(self, side: Side, name: str, entry: Entry) -> None:
        """One array is cut and nothing is asked of the output."""
        if name not in self.product.summed:
            self._gather_output(name, entry)
        elif (self.size(self.out, {}) < self.size(side, {}) or self.leftover) and not self.lent:
            self.rules.append("sum-instead-of-gather")
            self.take(name, entry)
            self.note("all-reduce", self.out, self.out.cuts, entry)
        else:
            self.gather(side, name, ())

    def _gather_output(self, name: str, entry: Entry) -> None:
        self.rules.append("output-gathered")
        self.take(name, entry)
        self.split[name] = self.split[name][: -len(entry)]
        self.note("all-gather", self.out, {name: entry}, entry, {})
        self.split[name] = (*self.split[name], *entry)

    def _all_to_all(self, side: Side, had: str, asked: str, entry: Entry, wanted: Entry) -> None:
        self.rules.append("all-to-all-before-product")
        side.cuts[had] = ()
        side.cuts[asked] = wanted
        self.note("all-to-all", side, side.cuts, entry)
