"""Chapter 14, exercise 14.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch14.ex05 import oracle as of
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

RESUME = (
    WrongValues(
        "one-process-saves",
        "Process 0 waits for something that process 1 never begins. All processes must take part when a global array is "
        "saved, restored or computed with.",
        1, when=lambda seen: seen.stopped[0] and seen.returned[1] is not None),
    WrongProgram(
        "all-values-in-one-process",
        "NumPy wants all values in one process, which has half of them; a checkpoint library writes each process's shards.",
        1, error="spans non-addressable"),
    WrongValues(
        "lies-as-it-was-saved",
        "The values are right, but the array has the mesh of the earlier part: give restore a ShapeDtypeStruct with the "
        "new sharding.",
        2, when=lambda seen: of.right_state(seen) and of.on_another_mesh(seen)),
    WrongValues(
        "steps-from-zero-again", "After the restart the steps are counted from 0 again; the run should go on at `first`.",
        2, like=of.recounted),
    WrongValues(
        "not-continued", "That is the state with which this part begins; the steps from `first` to `last` are missing.",
        2, like=of.not_continued),
    WrongValues(
        "never-restored", "The state was zeros when this part began, so the steps before it are lost. Perhaps the "
        "checkpoint was not restored.",
        1, like=of.from_zeros),
    WrongValues(
        "nothing-under-that-name",
        "There is no checkpoint where this part looks for one. Each part saves as step `last`, and the next one reads "
        "that as `first`. Also, save only begins to write: leave `with`, or call wait_until_finished.",
        3, when=of.nothing_found),
)  # fmt: skip

QUESTION = Question(
    "14.5", "Saved on one mesh, resumed on another", difficulty=4, minutes=40, optional=True,
    items=(
        ProcessesItem("resume", {"V": 7, "S": 5}, oracle=of.resumed,
                      misconceptions=RESUME, rtol=1e-4, atol=1e-4,
                      cases=(of.resuming((2, 4), 0, 3), of.resuming((4, 2), 3, 5)),
                      draw=of.draw_resuming),
    ),
    hints=(
        "Who has the values to be saved? And when the run goes on, who says which devices get them?",
        "All processes call save and restore. Restore takes a tree like the saved one, with a ShapeDtypeStruct that has "
        "the new sharding in place of each array.",
        "files.save(f'{folder}/{last}', {'W': W}) and files.restore(f'{folder}/{first}', {'W': jax.ShapeDtypeStruct(shape, "
        "dtype, sharding=new)})['W'].",
    ),
    explanation="A checkpoint holds values and where they belong in the global array. (Orbax also notes which devices had "
                "them, but a sharding that you give takes precedence.) So each process writes the shards that it has, each "
                "shard once. Later each process reads the slices that its own devices need, whatever the mesh. The number "
                "of processes may differ too.\n\nA run consists of more than arrays. Save the rest with them: the step "
                "number, the random key, the place in the data. Saving is a collective action, with a barrier before the "
                "checkpoint counts as complete, so a save by process 0 alone hangs. JAX refuses np.save(np.asarray(W)) if a "
                "process lacks parts, and gathering the array first requires one host that can hold all of it.",
)  # fmt: skip
