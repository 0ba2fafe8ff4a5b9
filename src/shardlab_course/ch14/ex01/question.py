"""Chapter 14, exercise 14.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex01 import oracle as of
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

FEED = (
    WrongProgram(
        "values-from-elsewhere",
        "NumPy wants all values, but this process has half of them: leave the array to JAX, or look at this process's "
        "shards.",
        1, error="spans non-addressable"),
    WrongValues(
        "own-devices-only",
        "The batch is not on all devices of both processes: it was made in one process alone, or on a mesh without some "
        "of them, or only a part of it was returned. Make it on a mesh of all of jax.devices(), and return it whole.",
        1, when=lambda seen: len(seen.returned[0]["batch"].placement.shards) < seen.launch.processes * seen.launch.devices),
    WrongValues(
        "promised-copies",
        "The array promises copies that are equal, and they differ: JAX does not compare them. Perhaps devices of both "
        "hosts have the same rows under this sharding, but each host gave its own.",
        2, when=lambda seen: not seen.returned[0]["batch"].copies),
    WrongValues(
        "every-host-the-same-rows", "The first host's rows are there twice. Perhaps both hosts read the same file: which "
        "one a host reads must depend on jax.process_index().",
        1, like=of.fed_twice),
    WrongValues("hosts-swapped", "The rows of process 1 come before those of process 0.", 2, like=of.swapped),
    WrongValues(
        "mean-of-own-rows", "The mean is that of this process's rows: take the mean of the global array.",
        3, when=of.own_mean),
    WrongValues(
        "copies-within-a-host", "Devices of one host hold the same rows; cut the rows over all eight devices.",
        2, when=of.copied_within_a_host),
)  # fmt: skip

QUESTION = Question(
    "14.1", "One array, read by two", difficulty=2, minutes=25,
    items=(
        ProcessesItem("feed", {"V": 3.5, "S": 3.5}, oracle=of.fed, misconceptions=FEED,
                      cases=(of.feeding(3, 8, 3), of.feeding(5, 4, 2)), draw=of.draw_feeding),
    ),
    hints=(
        "Which devices are in the mesh: those of this process, or all? And what must the spec say, so that half of the "
        "rows are here?",
        "jax.make_mesh((jax.device_count(),), ...) uses all devices, those of process 0 first. The spec cuts rows over "
        "that one axis. Each process gives its own rows.",
        "jax.make_array_from_process_local_data(NamedSharding(mesh, P('data')), mine), and .mean(0) of what it returns.",
    ),
    explanation="A global array is an agreement: every process names the same shape and sharding, and brings the values of "
                "its own devices. make_array_from_process_local_data does the bookkeeping. From the sharding it knows which "
                "rows this process's devices have, cuts what you give it, and computes the global shape. It sends nothing "
                "and asks no other process. So it is cheap, and it does not notice a wrong promise. You use the array as on "
                "one machine: batch.mean(0) is the mean over both hosts, since both call it. Here every process could have "
                "made all rows, and device_put of all rows is also right. In training each host reads its own files, and no "
                "host could hold them all.",
)  # fmt: skip
