"""Chapter 14's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardlab_course.ch14 import oracles as of
from shardlab_course.ch14 import processes
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

FATES = {"a": "fine", "b": "error", "c": "hangs", "d": "fine", "e": "fine", "f": "error", "g": "differ", "h": "hangs"}


def otherwise(launch: str) -> Callable[[Any], bool]:
    """Whether another one of the fates was predicted for a launch."""
    return lambda got: got[launch] in set(FATES.values()) - {FATES[launch]}


PREDICTED = (
    Misconception(
        "one-process-is-enough",
        "A global array's sum is a program of all devices: if process 1 does not call it, process 0 waits for its part.",
        1, like=otherwise("c")),
    Misconception(
        "printing-is-computing",
        "In d and e only data that process 0 has already is looked at by process 0 alone; no other process has to help.",
        2, like=lambda got: "hangs" in (got["d"], got["e"])),
    Misconception(
        "nobody-is-asked",
        "device_put makes copies from what each process gives, and compares it first: where processes disagree it refuses, "
        "in all of them.",
        2, like=otherwise("f")),
    Misconception(
        "copies-are-compared",
        "make_array_from_process_local_data takes each process's word: equal copies are promised, and nobody looks.",
        3, like=otherwise("g")),
    Misconception(
        "the-longer-loop-goes-on", "Process 1 wants one sum more than process 0 takes part in, so it waits there.",
        1, like=otherwise("h")),
    Misconception(
        "a-process-has-all-values",
        "A process can read the shards of its own devices; NumPy asks for all values, and JAX refuses.",
        2, like=otherwise("b")),
    Misconception(
        "a-total-is-cut-too", "The sum is one number, and every device has a copy of it, so each process can read it.",
        2, like=otherwise("a")),
)  # fmt: skip

REDUCTION = (
    Misconception(
        "left-to-the-compiler",
        "On global arrays, or by in_specs, the compiler chooses how to sum; choose the steps yourself, in shard_map.",
        1, when=lambda o: not o.manual),
    Misconception(
        "promise-not-proved",
        "out_specs promises equal copies, and JAX cannot prove that they are: along the axis in the message a sum is "
        "missing, or all_gather needs to='invarying'.",
        3, error="can't be statically inferred"),
    Misconception(
        "one-axis-only",
        "The terms were added along one mesh axis only, so each host, or each place in a host, has a sum of its own.",
        1, when=lambda o: of.one_axis(o, "dcn") or of.one_axis(o, "ici")),
    Misconception("mean-instead-of-sum", "The sum of the devices' rows is asked for, not their mean.", 1, like=of.averaged),
    Misconception("never-reduced", "Each device returned its own row; nothing was added.", 1, local=of.own_host),
    Misconception(
        "full-bytes-on-slow-axis",
        "Every device sends a whole row along dcn: let the devices of a host share out the row's "
        "sum first, and send a part each.",
        1, when=lambda o: of.is_sum(o) and of.sends_whole(o)),
    Misconception(
        "scattered-over-the-slow-axis",
        "Whole rows are cut up over dcn, and so cross it before they are small: scatter over ici first.",
        2, when=of.scatters_whole),
    Misconception(
        "gathers-over-the-slow-axis", "Hosts' terms are gathered over dcn and added afterwards, which brings the terms of "
        "each host to every device: let psum add them on their way.",
        2, when=lambda o: of.pieces(o, "dcn", "all-gather") and not of.scatters_over(o, "dcn")
        and not of.pieces(o, "dcn", "all-to-all")),
    Misconception(
        "one-flat-group",
        "One collective over all devices at once moves whole rows in groups that cross dcn; the fast wires should make "
        "them small first.",
        1, when=lambda o: of.is_sum(o) and of.flat(o)),
    Misconception(
        "whole-rows-in-a-ring",
        "A ring that crosses dcn sends something along it in every round, and together that is more than a sum of parts "
        "would take, each made within its host.",
        2, when=lambda o: of.rounds(o) > len(o.case.axes)),
    Misconception(
        "sums-whole-rows-then-cuts",
        "dcn is spared, but over ici whole rows are summed on every device: psum_scatter on the way in and all_gather on "
        "the way out take half of that each.",
        3, when=lambda o: of.is_sum(o) and of.cuts_after(o)),
)  # fmt: skip

GRID = (
    Misconception(
        "in-numbered-order",
        "Rows were filled with devices as they are numbered; ask which process each belongs to.", 1, like=of.in_order),
    Misconception(
        "local-by-hosts",
        "That is the mesh of local by hosts: as many columns as processes, filled with devices as they are numbered.",
        1, like=of.seed_mesh),
    Misconception("hosts-as-columns", "Each process is a column here; it should be a row.", 2, like=of.turned),
    Misconception(
        "first-come", "Rows come in the order of the processes' numbers, not in the order in which they turn up.",
        2, like=of.first_come),
)  # fmt: skip

GRADIENTS = (
    Misconception(
        "activations-cross-hosts",
        "Something as long as the batch goes from host to host: let each host keep its samples.",
        2, when=lambda o: of.multiplied(o, 1) and of.activations_cross(o)),
    Misconception(
        "flat-data-parallel",
        "This is data parallelism over all eight devices, and whole gradients go through "
        "groups that cross the hosts' wires.",
        1, when=lambda o: of.multiplied(o, 1) and of.all_devices_sum_whole(o)),
    Misconception(
        "whole-gradients-cross",
        "A device sends more than its part of the gradients to other hosts: cut them over local "
        "before they are summed over host.",
        2, when=lambda o: of.multiplied(o, 1) and of.whole_gradients_cross(o)),
    Misconception(
        "summed-again",
        "The gradients are too large by a constant: means of parts were added up, a sum over devices is taken once too "
        "often, or the loss has a factor of its own.",
        3, when=lambda o: any(of.multiplied(o, n) for n in {2, 4, 8})),
    Misconception(
        "averaged-again",
        "The gradients are too small by a constant: averaged over devices once too often, or the loss has a factor of its "
        "own.",
        3, when=lambda o: any(of.multiplied(o, 1 / n) for n in {2, 4, 8})),
    Misconception(
        "sum-instead-of-mean", "The loss is the mean over samples and outputs; this is the sum's gradient.",
        1, when=lambda o: of.multiplied(o, o.inputs[1].size)),
    Misconception(
        "sum-over-outputs", "The loss is the mean over samples and outputs; this is the mean over samples only.",
        1, when=lambda o: of.multiplied(o, o.inputs[1].shape[1])),
    Misconception(
        "promise-not-proved",
        "out_specs promises equal copies, and JAX cannot prove that they are: along the axis in the message a sum is "
        "missing, or all_gather needs to='invarying'.",
        3, error="can't be statically inferred"),
    Misconception(
        "left-in-pieces",
        "A device has only its part of the gradients; they are asked for whole, and within a host that is cheap.",
        3, when=lambda o: any(p.spec for p in o.placements) and of.multiplied(o, 1)),
)  # fmt: skip


FEED = (
    Misconception(
        "values-from-elsewhere",
        "NumPy wants all values, and this process has half of them: leave the array to JAX, or look at its own shards.",
        1, error="spans non-addressable"),
    Misconception(
        "own-devices-only",
        "The batch does not lie on all devices of both processes: it was made in one process alone, or on a mesh without "
        "some of them, or a part of it was returned. Make it on a mesh of all of jax.devices(), and return it whole.",
        1, when=lambda seen: len(seen.returned[0]["batch"].placement.shards) < seen.launch.processes * seen.launch.devices),
    Misconception(
        "promised-copies",
        "By this sharding devices of both hosts have the same rows, and each host gave its own: copies were promised that "
        "differ, and nobody compared.",
        2, when=lambda seen: not seen.returned[0]["batch"].copies),
    Misconception(
        "every-host-the-same-rows", "Both hosts read the same rows: the file depends on jax.process_index().",
        1, like=processes.fed_twice),
    Misconception("hosts-swapped", "The rows of process 1 come before those of process 0.", 2, like=processes.swapped),
    Misconception(
        "mean-of-own-rows", "The mean is that of the rows of this process: take it of the global array.",
        3, when=processes.own_mean),
    Misconception(
        "copies-within-a-host", "Devices of one host hold the same rows; cut the rows over all eight devices.",
        2, when=processes.copied_within_a_host),
)  # fmt: skip

START = (
    Misconception(
        "hosts-must-agree",
        "device_put wants the same whole array from each process, even if it is to be cut, and compares them; these "
        "differ. Draw weights alike everywhere. Of an array that is cut, a process gives its own part to "
        "make_array_from_process_local_data.",
        2, error="not the same on each process"),
    Misconception(
        "weights-by-host", "Each process made weights of its own, and the copies that the array promises are not equal.",
        1, when=lambda seen: not seen.returned[0]["weights"].copies),
    Misconception(
        "same-rows-on-every-host",
        "Both processes chose the same rows, so the batch is half as large as it looks: who reads what depends on "
        "process_index.",
        2, when=lambda seen: seen.returned[0]["rows"] == seen.returned[1]["rows"]),
    Misconception(
        "own-order-on-every-host",
        "Some rows are read by both processes, so others by none, as if each had an order of its own: shuffle alike, then "
        "share out that one order.",
        2, when=lambda seen: processes.overlap(seen) > 0),
    Misconception(
        "not-shuffled", "Each process reads its rows in rising order: shuffle all samples by `seed` before they are shared "
        "out.",
        2, when=processes.in_rising_order),
    Misconception(
        "same-noise-on-every-host",
        "Each host drew its part from the same key, so the hosts have equal noise: draw one global array, or fold the "
        "process in.",
        3, when=processes.repeated_by_host),
    Misconception(
        "same-noise-on-every-device", "Devices have equal noise: they drew from the same key, or got copies of one draw.",
        3, when=processes.repeated_by_device),
    Misconception(
        "no-normal-noise", "The noise does not look normal: its mean should be near 0, and its standard deviation near 1.",
        3, when=lambda seen: not processes.normal(seen.returned[0]["noise"].whole)),
)  # fmt: skip

RESUME = (
    Misconception(
        "one-process-saves",
        "Process 0 waits for something that process 1 never begins. Saving a global array is work for all processes, and "
        "so is every computation on one.",
        1, when=lambda seen: seen.stopped[0] and seen.returned[1] is not None),
    Misconception(
        "all-values-in-one-process",
        "NumPy wants all values in one process, which has half of them; a checkpoint library writes each process's shards.",
        1, error="spans non-addressable"),
    Misconception(
        "lies-as-it-was-saved",
        "The values are right, and the array lies on the mesh of the run before: give restore a ShapeDtypeStruct with the "
        "new sharding.",
        2, when=lambda seen: processes.right_state(seen) and processes.on_another_mesh(seen)),
    Misconception(
        "steps-from-zero-again", "After the restart the steps are counted from 0 again; the run goes on at `first`.",
        2, like=processes.recounted),
    Misconception(
        "not-continued", "That is the state with which this part begins; the steps from `first` to `last` are missing.",
        2, like=processes.not_continued),
    Misconception(
        "never-restored", "The second part begins anew, and the steps of the first are lost: restore its checkpoint.",
        1, like=processes.from_zeros),
    Misconception(
        "nothing-under-that-name",
        "Nothing was found where this part looks for its checkpoint: each part saves as step `last`, and the next one "
        "reads that as `first`. And save only begins to write: leave `with`, or call wait_until_finished.",
        3, when=processes.nothing_found),
)  # fmt: skip

MECHANISM = why(
    "When does one process wait for another?",
    a="In a program in which devices of both exchange something, until the other one runs it too.",
    b=Believed(
        "Wherever it uses a global array: that belongs to both.",
        "every-use-waits",
        "In d one process alone looks at its own part of a global array, and the launch came to its end.",
    ),
    c=Believed(
        "Where a number is read, by `print` or `float`: it is collected from all.",
        "reading-waits",
        "In e one process alone reads the total, and the launch came to its end: both had computed it, and each has a copy.",
    ),
)
