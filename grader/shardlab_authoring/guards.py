"""The facts of the programs that guards are asked about, measured and written beside their exercise.

Run as `python -m shardlab_authoring.guards [CHAPTER...]` at the root of the repository, after one of them has changed.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_course.shared.guarded import Guarded, Program, Situation
from shardlab_judge.items.guard import GuardItem


def declared(item: GuardItem) -> Guarded:
    """The programs that an item's guard is asked about, from the module beside their facts."""
    chapter, exercise, _ = item.kept.parts[-3:]
    found: Guarded = importlib.import_module(f"shardlab_course.{chapter}.{exercise}.guarded").GUARDED
    return found


FLOAT32, BFLOAT16 = 1e-6, 2**-7
"""What rounding adds to an `error` at most: some units of float32's last place, and two of bfloat16's.

An error of 7 is that of values eight times too large, whose last place is worth eight times as much.
"""


def measured(guarded: Guarded, *, targets: bool = True) -> Iterator[dict[str, Any]]:
    """Each program in each situation, as it is kept.

    Args:
        targets: compile for TPUs too, which needs libtpu.
    Raises:
        ShardlabError: what is said of a program is not so.
    """
    for situation in guarded.situations:
        mesh, arrays = situation.made()
        right = guarded.right(*arrays)
        for program in guarded.asked(situation) if targets or situation.target is None else ():
            yield _kept(guarded, situation, program, _facts(program, mesh, arrays, right, situation.target))


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a program is the same in two measurements: in everything but rounding, which depends on the processor.

    XLA for CPU adds in an order that suits the width of the processor's vectors. Errors of values that are wrong differ by
    the rounding of float32 then. An error that is itself the rounding of bfloat16 may become the double or the half.
    """
    first, second = one["facts"]["error"], other["facts"]["error"]
    larger, smaller = max(first, second), min(first, second)
    near = larger - smaller <= FLOAT32 * (1 + larger) or larger <= min(BFLOAT16, 2 * smaller)
    return near and _exact(one) == _exact(other)


def _exact(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "facts": {**one["facts"], "error": None}}


def renewed(kept: Sequence[Mapping[str, Any]], found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What was found, but what is kept wherever the two are alike: the file says the same wherever it is written."""
    return [next((one for one in kept if alike(one, now)), now) for now in found]


def _facts(program: Program, mesh: Any, arrays: Sequence[Any], right: Any, target: str | None) -> dict[str, Any]:
    from shardlens import facts

    return facts(lambda *given: program.f(mesh, *given), *arrays, right=right, target=target)


def _kept(guarded: Guarded, situation: Situation, program: Program, found: dict[str, Any]) -> dict[str, Any]:
    if guarded.fair(found) != program.good:
        where = f"{program.name}, {dict(situation.axes)}, {situation.target}: {json.dumps(found)}"
        what = f"a program that should be {'right' if program.good else 'wrong'} is not."
        raise ShardlabError("guarded-unfair", what, where=where, mend="mend the program, its label or the rule.")
    public = program.name in situation.shown or (program.public and situation is guarded.situations[0])
    return {"name": program.name, **labels(guarded, found), "why": program.why, "public": public, "facts": found}


def labels(guarded: Guarded, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Which rules a program's facts break, and whether it would break one if it moved a byte more."""
    breaks = guarded.breaks(facts)
    return {"breaks": breaks, "tie": not breaks and not guarded.fair({**facts, "price": facts["price"] + 1})}


def main(chapters: Sequence[int]) -> None:
    """Write the files and say so."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    from shardlab_course.chapters import CHAPTERS

    for chapter in chapters or CHAPTERS:
        for item in (item for question in CHAPTERS[chapter] for item in question.items if isinstance(item, GuardItem)):
            kept = json.loads(item.kept.read_text()) if item.kept.exists() else []
            found = renewed(kept, measured(declared(item)))
            item.kept.write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")
            print(f"wrote {len(found)} programs into {item.kept.relative_to(pathlib.Path.cwd())}")


if __name__ == "__main__":
    main([int(chapter) for chapter in sys.argv[1:]])
