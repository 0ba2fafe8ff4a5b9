"""Chapter 14's questions: many hosts, slow wires."""

from __future__ import annotations

from shardlab_course.ch14 import misconceptions as wrong
from shardlab_course.ch14 import oracles as of
from shardlab_course.ch14 import processes
from shardlab_course.ch14.oracles import FEW_WIRES, HOSTS, SMALL_HOSTS, WIRES
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question

BATCH = Question(
    "14.1", "One array, read by two", difficulty=2, minutes=25,
    items=(
        ProcessesItem("feed", {"V": 1, "S": 1}, oracle=processes.fed, misconceptions=wrong.FEED,
                      cases=(processes.feeding(3, 8, 3), processes.feeding(5, 4, 2)), draw=processes.draw_feeding),
    ),
    hints=(
        "Which devices does the mesh have: those of this process, or all? And what must the spec say, so that half of the "
        "rows are here?",
        "jax.make_mesh((8,), ...) uses all devices, those of process 0 first. The spec cuts rows over that one axis. Each "
        "process gives its own rows.",
        "jax.make_array_from_process_local_data(NamedSharding(mesh, P('data')), mine), and .mean(0) of what it returns.",
    ),
    explanation="A global array is an agreement: every process names the same shape and sharding, and brings the values of "
                "its own devices. make_array_from_process_local_data does the bookkeeping: from the sharding it knows which "
                "rows this process's devices have, cuts what you give it, and concludes the global shape. It sends nothing "
                "and asks nobody, which makes it cheap, and means that a wrong promise goes unnoticed. What you do with the "
                "array afterwards is written as on one machine: batch.mean(0) is the mean over both hosts, since both call "
                "it. Here every process could have made all rows, and device_put of them all is right too; in training each "
                "host reads its own files, and nobody could hold them all.",
)  # fmt: skip

FAILING = Question(
    "14.2", "What fails, what hangs, what lies", difficulty=3, minutes=20,
    items=(
        ValueItem("fates", {"P": 1.75}, predicted=True, key=wrong.FATES,
                  misconceptions=wrong.PREDICTED, words=("fine", "error", "hangs", "differ")),
        wrong.MECHANISM,
    ),
    hints=(
        "For each line ask: is it a computation on a global array, or a look at what this process has? Who calls it?",
        "A computation must be called by all processes, equally often, in the same order. Looking concerns one process. And "
        "who checks that what you say about your data is true of the other process's?",
        "Two errors, two hang, one differs in silence, three are fine. The silent one is where each process tells JAX "
        "something else, and JAX does not ask the other.",
    ),
    explanation="A jitted function of a global array is one program of all its devices, and each process starts its own "
                "part. If the parts exchange something, as a sum does, and a process never calls it (c), or calls it less "
                "often (h), the others wait, because one that never comes looks like one that is slow. Some carriers of "
                "messages give up in the end: on CPUs Gloo does so after half a minute when processes meet for the first "
                "time, and later it waits much longer.\n\nA look at what is here needs nobody: own shards (d), or a number "
                "that every device has (a, e). np.asarray wants shards that live elsewhere, and JAX refuses (b). Worst is "
                "g: JAX believes what each process says of its own data, and copies that are promised to be equal are not. "
                "device_put (f) does ask: it compares what the processes give, at the price of a message. The rule behind "
                "all: same program, same order, same shapes, and different data only where an array is cut.",
)  # fmt: skip

HIERARCHY = Question(
    "14.3", "A sum that spares the slow wire", difficulty=4, minutes=45,
    items=(
        ProgramItem("all_reduce", {"V": 0.5, "S": 0.5, "H": 2}, oracle=of.summed,
                    misconceptions=wrong.REDUCTION, manual=True,
                    tolerance="float32 sums in another order",
                    cases=(of.reduction(WIRES, 1024), of.reduction(FEW_WIRES, 96)), draw=of.draw_reduction),
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

SEEDS = Question(
    "14.4", "Alike and not alike", difficulty=3, minutes=30, optional=True,
    items=(
        ProcessesItem("start", {"V": 1.5, "S": 0.5}, checks=(Check("V", processes.not_begun),), misconceptions=wrong.START,
                      cases=(processes.starting(3, 40, 6), processes.starting(8, 32, 16)), draw=processes.draw_starting),
    ),
    hints=(
        "Three random things. Which must be the same on both hosts, which must not, and which must be shared out?",
        "Rows: both shuffle with the same seed, and each takes its share of the order. Weights, noise: global arrays from "
        "keys that all processes have.",
        "rows: permutation(samples)[process :: processes][:rows]. noise: jax.jit with out_shardings P('data') of "
        "jax.random.normal, with a key made by fold_in, of the global shape.",
    ),
    explanation="Weights are copies, so every process must make them from the same key: nothing checks it, unless you use "
                "device_put, which compares. Samples are shared out: shuffle with the same seed everywhere, then take a "
                "part by process_index. With seeds of their own they read some samples twice and others "
                "never. Noise must differ from device to device.\n\nThe simplest way is one global draw from one key, "
                "cut over the devices: each makes its own part, and on another number of hosts the numbers are the same. "
                "With local draws the process has to be folded into the key. In short: where the array is a copy, same key; "
                "where it is cut, one key for the whole or a key for each.",
)  # fmt: skip

CHECKPOINT = Question(
    "14.5", "Saved on one mesh, resumed on another", difficulty=4, minutes=40, optional=True,
    items=(
        ProcessesItem("resume", {"V": 1.5, "S": 1}, oracle=processes.resumed,
                      misconceptions=wrong.RESUME, rtol=1e-4, atol=1e-4,
                      cases=(processes.resuming((2, 4), 0, 3), processes.resuming((4, 2), 3, 5)),
                      draw=processes.draw_resuming),
    ),
    hints=(
        "Who has the values to be saved? And when the run goes on, who says where they are to lie?",
        "All processes call save and restore. Restore takes a tree like the one that was saved, with a ShapeDtypeStruct in "
        "place of each array, and its sharding is the new one.",
        "files.save(f'{folder}/{last}', {'W': W}) and files.restore(f'{folder}/{first}', {'W': jax.ShapeDtypeStruct(shape, "
        "dtype, sharding=new)})['W'].",
    ),
    explanation="A checkpoint holds values and where they belong in the global array. (Orbax notes beside them which "
                "devices had them; who says where they are to lie is not bound to that.) So each process writes the "
                "shards that it has, each once, and whoever comes later reads the slices that its own devices need, "
                "whatever the mesh. The number of processes may be another too.\n\nWhat a run is made of besides arrays "
                "must be saved with them: the step number, the random key, the place in the data. Saving is a collective "
                "action, with a barrier before the checkpoint counts as complete; a save by process 0 alone hangs. "
                "np.save(np.asarray(W)) is refused where a process lacks parts, and gathering it first would need one "
                "host that can hold it all.",
)  # fmt: skip

AXES = Question(
    "14.6", "Which axis goes over hosts", difficulty=4, minutes=50,
    items=(
        CallsItem("grid", {"C": 1}, oracle=of.grid, misconceptions=wrong.GRID, draw=of.draw_processes,
                  calls=(([0, 0, 0, 0, 1, 1, 1, 1],), ([0, 1, 0, 1, 0, 1, 0, 1],), ([2, 0, 0, 1, 2, 1],))),
        ProgramItem("gradients", {"V": 0.5, "S": 0.5, "H": 2}, oracle=of.slopes, misconceptions=wrong.GRADIENTS,
                    rtol=1e-4, tolerance="float32 sums over the batch, in another order",
                    cases=(of.training(HOSTS, 256, 16, 56), of.training(SMALL_HOSTS, 320, 8, 48)), draw=of.draw_training),
    ),
    hints=(
        "grid: a row is a host. gradients: of all that moves, what is small, and what grows with the batch?",
        "Samples stay on their host; hidden units are cut within a host. Then between hosts only gradients are summed, and "
        "each device has a part of them.",
        "Constrain X and Y to P('host'), W1 to P(None, 'local') and W2 to P('local', None) in the loss; the gradients "
        "to P() at the end.",
    ),
    explanation="Tensor parallelism sums activations in every layer: bytes that grow with the batch, and that are waited "
                "for at once. Data parallelism sums gradients once a step: bytes of the weights. So the batch goes over the "
                "slow axis, the model over the fast one, and each device's gradients are then a part only, which makes the "
                "slow sum smaller again.\n\nSumming gradients by hand, scattered within the host first, does as well. "
                "Whichever you choose, it is worth nothing if the axis called host is not the hosts: so rows of the mesh "
                "are built from process_index, and given to jax.sharding.Mesh, which takes them as they are: jax.make_mesh "
                "permutes devices on TPUs. A mesh of local by hosts names the axes the other way round: its slow axis lies "
                "within a host.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (BATCH, FAILING, HIERARCHY, SEEDS, CHECKPOINT, AXES)
