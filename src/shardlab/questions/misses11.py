"""Chapter 11's known wrong answers."""

from __future__ import annotations

from typing import Any

from shardlab.question import Miss
from shardlab.questions import oracles11 as of

LEDGER = (
    Miss("stages-are-not-cumulative",
         "Each stage cuts what the one before it cut, and one thing more; here stage 3 cuts the weights alone.",
         2, like=of.ledger_of_one),
    Miss("gradients-cut-in-stage-1",
         "ZeRO-1 cuts the optimizer's state only: the gradients are cut from stage 2 on.",
         2, like=of.ledger_by((3, 1, 1))),
    Miss("weights-cut-in-stage-2", "Weights are cut in stage 3 only.", 2, like=of.ledger_by((2, 2, 1))),
    Miss("wrong-order", "The stages cut the largest part first: optimizer, then gradients, then weights.",
         2, like=of.ledger_by((1, 2, 3))),
    Miss("cut-in-every-stage", "That divides everything by the number of devices; stage 0 cuts nothing.",
         1, like=of.ledger_by((0, 0, 0))),
    Miss("never-cut", "These are the bytes of a device that holds everything, whatever the stage.",
         1, like=of.ledger_by((4, 4, 4))),
    Miss("float32-copy-forgotten",
         "In mixed precision the optimizer also keeps a float32 copy of the weights: 12 bytes a parameter, not 8.",
         1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 2, 8) if mixed else None)),
    Miss("gradients-in-float32", "In mixed precision gradients are kept in 16 bits, as the weights are.",
         1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 4, 12) if mixed else None)),
)  # fmt: skip

LARGEST = (
    Miss("memory-is-shared",
         "That treats all memories as one: only what is cut is divided, and the rest lies on every device.",
         3, like=lambda memory, n, stage, mixed: memory * n // 16),
    Miss("stage-ignored", "That is the largest model of stage 0.", 1,
         like=lambda memory, n, stage, mixed: memory // 16),
)  # fmt: skip

TRAIN = (
    Miss("promise-not-proved",
         "all_gather returns something that may vary over data, and out_specs says that it does not: ask for "
         "to='invarying'.",
         3, error="can't be statically inferred|Unsupported pcast from=varying"),
    Miss("first-use-only", "E is used twice, and its gradient is the sum of both uses; this is the first use's alone.",
         1, like=of.trained(uses=(1, 0))),
    Miss("second-use-only", "E is used twice, and its gradient is the sum of both uses; this is the second use's alone.",
         1, like=of.trained(uses=(0, 1))),
    Miss("without-correction",
         "The state begins at zero, so early averages are too small; Adam divides by 1 - beta**t to correct that.",
         1, like=of.trained(corrected=False)),
    Miss("step-zero", "The first step is number 1: with 0 the correction divides by zero.",
         1, when=lambda o: any((block != block).any() for shards in o.shards for _, _, block in shards)),
    Miss("state-forgotten", "The state begins anew in every step; carry it along.",
         2, when=lambda o: of.agrees(o, of.trained(memory=False)(*of.wide(o)), 1e-3)),
    Miss("one-step", "This is one step of five.", 1, like=of.trained(steps=1)),
    Miss("gradients-summed",
         "The gradients are sums over devices of means over their samples, n times the mean's. Adam hides it from the "
         "weights; m and v show it.",
         3, when=lambda o: _scaled(o, dict(o.case.axes)["data"])),
    Miss("state-on-every-device",
         "Each device holds all of the optimizer's state; ZeRO-1 gives it the rows that it updates, an n-th.",
         1, when=of.state_whole),
    Miss("cut-at-the-end",
         "The state is cut only when training is over: nothing is gathered in any step, so every device updated all of "
         "every weight.",
         2, when=lambda o: "all-gather" not in o.kinds, barred=True),
)  # fmt: skip


def _scaled(o: Any, factor: float) -> bool:
    return of.agrees(o, of.trained(factor=factor)(*of.wide(o)), 1e-3)


GRADIENTS = (
    Miss("left-to-the-compiler",
         "On global arrays the compiler gathers for you; here you are to write what one device does, in shard_map.",
         1, when=lambda o: not o.manual),
    Miss("not-gathered",
         "A device has some rows of each weight, and the product needs all of them: all_gather first, with tiled=True.",
         1, error="contracting dim|incompatible shapes for (dot|matmul)|matmul: Input operand"),
    Miss("sum-of-means",
         "The all-gather's transpose summed n gradients, each of a mean over one device's samples; the mean over all "
         "samples is an n-th of that.",
         3, when=lambda o: of.times(o, lambda n: n)),
    Miss("slices-averaged",
         "The reduce-scatter left each device with other rows; pmean then averaged rows that have nothing to do with "
         "one another.",
         2, when=lambda o: of.own_parts(o, average=True)),
    Miss("never-reduced",
         "Each device kept its rows of its own samples' gradient: differentiate through the all_gather, or scatter the "
         "sum yourself.",
         2, when=of.own_parts),
    Miss("averaged-twice", "The mean over devices was taken twice.", 2, when=lambda o: of.times(o, lambda n: 1 / n)),
    Miss("gradients-whole",
         "Every device ends with whole gradients, n times the memory of what it needs for its own rows.",
         1, when=lambda o: any(b.shape == w.shape for s, w in zip(o.shards, o.placements) for _, _, b in s)),
    Miss("all-reduce-and-slice",
         "The gradients are summed for everybody and then cut: that pays for an all-gather of what is thrown away.",
         2, when=of.large_all_reduce),
    Miss("batch-gathered", "The batch is gathered too; only the weights have to come together.",
         1, when=of.batch_gathered),
)  # fmt: skip

GATHERS = (
    Miss("remat-in-HLO",
         "XLA's CPU compiler drops the barriers and merges what is equal: the second gather of a weight is the first one's "
         "equal.",
         2, like=lambda got: of.entry(got, "compiled") in (7, 8)),
    Miss("nothing-written-twice", "The exported program is what JAX wrote, and it gathers again where it recomputes.",
         1, like=lambda got: of.entry(got, "exported") == 4),
    Miss("first-layer-spared",
         "Nothing needs the first weight backwards, but this checkpoint recomputes the layer's product and tanh, and "
         "these need it.",
         2, like=lambda got: of.entry(got, "exported") == 7),
)  # fmt: skip

LEAN = (
    *(miss for miss in GRADIENTS if miss.id in ("left-to-the-compiler", "not-gathered", "sum-of-means", "never-reduced")),
    Miss("no-checkpoint",
         "Nothing is computed again, so every gathered weight is kept from forward to backward. The compiled program "
         "for CPU would not have told you.",
         1, when=lambda o: of.count(o, "optimization_barrier") == 0 and of.count(o, "all_gather") < _twice(o)),
    Miss("checkpoint-without-effect",
         "jax.checkpoint is there, and no weight is gathered again: its policy keeps what all_gather returned. A name "
         "given to it afterwards is another value.",
         3, when=lambda o: of.count(o, "optimization_barrier") > 0 and of.count(o, "all_gather") < _twice(o)),
    Miss("whole-loss",
         "The whole forward pass is run again before the backward pass begins, and keeps every gathered weight as the first "
         "run did: put the checkpoint around one layer.",
         1, when=lambda o: of.count(o, "optimization_barrier") == 1 and _products_again(o)),
    Miss("products-made-again",
         "The weights are gathered again, and so are the products computed again: a policy says what may be kept.",
         2, when=lambda o: _products_again(o)),
    Miss("merged-again",
         "Each weight is gathered twice, and no barrier stands between: XLA may merge the two and keep the first.",
         3, when=lambda o: of.count(o, "optimization_barrier") == 0),
)  # fmt: skip


def _twice(o: Any) -> int:
    return 2 * (len(o.inputs) - 2) - 1


def _products_again(o: Any) -> bool:
    return of.count(o, "dot_general") > 3 * (len(o.inputs) - 2) - 1


RATIO = (
    Miss("FSDP-3x",
         "That counts the all-reduce of data parallelism once; it is a reduce-scatter and an all-gather, twice the bytes.",
         1, like=lambda got: float(got) == 3),
    Miss("as-much",
         "That is FSDP with its gathered weights kept: to give them up, each is gathered a second time.",
         1, like=lambda got: float(got) == 1),
)  # fmt: skip

TRAFFIC = (
    Miss("all-reduce-counted-once",
         "An all-reduce is a reduce-scatter and an all-gather: two passes around the ring. So FSDP is half as much again, "
         "not three times as much.",
         1, like=of.cheap_all_reduce),
    Miss("to-itself", "On a ring of n a device sends n - 1 of the n parts: the factor is (n - 1) / n.",
         1, like=of.without_ring),
    Miss("everything-each-microbatch",
         "Whoever holds whole gradients adds them up and communicates once; whole weights need no gather for each "
         "microbatch.",
         2, like=of.every_microbatch),
    Miss("microbatches-ignored", "What is not kept between microbatches is sent in each of them.",
         2, like=of.microbatches_ignored),
    Miss("of-all-devices", "That is what all devices send together.", 1, like=of.of_all_devices),
    Miss("never-gathered-again", "If gathered weights are given up, each microbatch gathers them twice.",
         3, like=of.kept_always),
)  # fmt: skip

DONATION = (
    Miss("mesh-not-static",
         "jax.jit takes the mesh for an array: it is the argument number 0, and static.",
         2, error="(Mesh.*not a valid JAX type|type.*Mesh)"),
    Miss("shifted-by-one",
         "Positions count the mesh: with that choice m, v and the gradient are given away, and the weights are not.",
         2, when=lambda o: o.donated == frozenset({1, 2, 3})),
    Miss("gradient-donated",
         "There is no output for the gradient's memory: three arrays are replaced, and nothing is gained by a fourth.",
         3, when=lambda o: o.donated > frozenset({0, 1, 2})),
    Miss("nothing-donated",
         "Old and new weights and state lie side by side: nothing says that the old ones are no longer needed.",
         1, when=lambda o: not o.donated),
    Miss("state-not-donated", "The weights are given away; m and v are replaced as well, and twice as large together.",
         1, when=lambda o: o.donated == frozenset({0})),
    Miss("weights-not-donated", "m and v are given away, and the old weights stay beside the new ones.",
         1, when=lambda o: o.donated == frozenset({1, 2})),
)  # fmt: skip
