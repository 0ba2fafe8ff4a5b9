"""The tables of the status page that are made from files: doors, lanes, attacks, mutants, causes, faults, prose, speed.

`doors.json` is written by hand, when somebody has seen a door work, and `prose.json` and `causes.json` when readers have
counted;
`constraints.txt` by `make constraints`; `hostile.json` by `make test-full`; `mutants.json` by `make mutants`;
`strength.json` by `make test-strength`; `bench.json` by `make bench`. A file of measurements that is not there is said
to be not there.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shardlab_authoring.lanes import CONSTRAINTS, FIRST_MINOR, pins

DOORS = "| door | what works | seen |\n|:--|:--|:--|"
BENCH = "| compared | ratio | interval | measured |\n|:--|--:|:--|:--|"
LANES = {"jax": "JAX", "numpy": "NumPy", "flax": "Flax", "libtpu": "libtpu"}
LAST_MINOR = 30
"""Of Python, beyond any that there is."""
ENDS = ("judged", "refused with a cause", "refused without", "equivalent", "survived", "false causes")
FOUND = ("lint", "types", "make test")
"""What `make test` finds a fault by."""


def parts(folder: pathlib.Path) -> dict[str, str]:
    """What stands in each marked place of the status page, by the name in the mark."""
    made: dict[str, Callable[[Any], str]] = {"doors": doors, "hostile": hostile, "mutants": mutants, "strength": strength}
    made |= {"causes": causes, "prose": prose, "compilers": compilers, "device": device, "bench": bench}
    read = {name: make(_read(folder / f"{name}.json")) for name, make in made.items()}
    return {
        name: text + "\n" for name, text in {**read, "lanes": of_lanes((folder.parent / CONSTRAINTS).read_text())}.items()
    }


def doors(given: Sequence[Mapping[str, Any]] | None) -> str:
    """One row a door, as Markdown."""
    return "\n".join([DOORS, *(_row(door["door"], door["works"], _seen(door)) for door in given or ())])


def of_lanes(constraints: str) -> str:
    """Which Pythons get which versions, one row a lane, as Markdown."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for minor in range(FIRST_MINOR, LAST_MINOR):
        found = pins(constraints, f"3.{minor}.0")
        rows.setdefault(tuple(found[name] for name in LANES), []).append(minor)
    head = ["| Python | " + " | ".join(LANES.values()) + " |", "|:--" * (1 + len(LANES)) + "|"]
    return "\n".join([*head, *(_row(_minors(minors), *versions) for versions, minors in rows.items())])


def _minors(minors: Sequence[int]) -> str:
    if minors[-1] == LAST_MINOR - 1:
        return f"3.{minors[0]} and newer"
    return f"3.{minors[0]}" + f" to 3.{minors[-1]}" * (len(minors) > 1)


def hostile(found: Mapping[str, Any] | None) -> str:
    """What was tried on the grader, and how often it did not do what it should, as Markdown."""
    if found is None:
        return "Not run for this copy of the book: `make test-full`."
    families = ", ".join(f"{name} {count}" for name, count in found["families"].items())
    lines = [
        f"{_versions(found['versions'])}, on {found['date']}, in {found['minutes']} minutes: {_counts(found['tests'])}. "
        f"{sum(found['families'].values())} hostile or broken submissions went through the real command ({families}), and a "
        f"class run was killed {found['kills']} times and started again.",
    ]
    return "\n".join([*lines, *[""] * bool(found["failed"]), *(f"- failed: `{name}`" for name in found["failed"])])


def mutants(found: Mapping[str, Any] | None) -> str:
    """How right answers ended that were changed in one place, by chapter, as Markdown."""
    if found is None:
        return "Not run for this copy of the book: `make mutants`."
    chapters = found["chapters"]
    names = [name for name, count in next(iter(chapters.values())).items() if name != "date"]
    total = {name: sum(counts[name] for counts in chapters.values()) for name in names} | {"date": ""}
    rows = [_ends(f"chapter {chapter}", counts) for chapter, counts in chapters.items()]
    about = (
        f"{_versions(found['versions'])}. Refused for values or costs: {total['values or costs']}, "
        f"{total['of them with a cause']} of them with a cause. Refused for an exception: {total['raised']}, "
        f"{total['of them with the line']} of them with the line that raised it."
    )
    return "\n".join(
        [about, "", _row("chapter", *ENDS, "run on"), "|:--" + "|--:" * len(ENDS) + "|:--|", *rows, _ends("all", total)]
    )


def causes(found: Mapping[str, Any] | None) -> str:
    """How many mutants of each draw were told what is not so, as Markdown."""
    if found is None:
        return "Not read for this copy of the book."
    counted = ("drawn", "refused", "told", "false", "misleading")
    heads = "drawn", "refused", "of them with a cause", "one of them false", "one misleading"
    rows = [_row(draw["date"], *(f"{draw[count]}" for count in counted)) for draw in found["draws"]]
    return "\n".join([_row("date", *heads), "|:--" + "|--:" * len(heads) + "|", *rows])


def strength(found: Mapping[str, Any] | None) -> str:
    """How faults planted in the code ended, by room, as Markdown."""
    if found is None:
        return "Not run for this copy of the book: `make test-strength`."
    rooms = found["rooms"]
    ends = [*next(iter(rooms.values()))["ends"]]
    total = {end: sum(room["ends"][end] for room in rooms.values()) for end in ends}
    quick = sum(total[end] for end in FOUND)
    about = (
        f"{sum(total.values())} faults. Each was tried on lint, on types, and on the parts of the suite that its room's row "
        f"names. Of the {quick + total['make test-all']} that were found, `make test` finds {quick}."
    )
    rows = [
        _row(
            name,
            *(f"{room['ends'][end]}" for end in ends),
            ", ".join(room["parts"]) or "all",
            _versions(room["versions"]),
            room["date"],
        )
        for name, room in rooms.items()
    ]
    heads = _row("room", *ends, "parts", "versions", "tried")
    rows.append(_row("all", *(f"{total[end]}" for end in ends), "", "", ""))
    return "\n".join([about, "", heads, "|:--" + "|--:" * len(ends) + "|:--" * 3 + "|", *rows])


def prose(found: Mapping[str, Any] | None) -> str:
    """How many sentences each reader marked, by chapter and by set of other texts, as Markdown."""
    if found is None:
        return "Not counted for this copy of the book."
    readers = "first reader", "second reader", "third reader", "fourth reader", "fifth reader", "ninth readers"
    rows = [
        _row(
            chapter,
            text,
            f"{counts['before']}",
            f"{counts['after']} of {counts['sentences']}",
            *(counts.get(reader, "") for reader in ("third", "fourth", "fifth", "ninth")),
        )
        for chapter, texts in found["chapters"].items()
        for text, counts in texts.items()
    ]
    head = [_row("chapter", "text", *readers), "|:--|:--" + "|--:" * len(readers) + "|"]
    others = [_row(name, *counts) for name, counts in found["sets"].items()]
    sets = [
        _row("other text", "fifth reader", "sixth readers", "seventh readers", "drawn after"),
        "|:--|--:|--:|--:|--:|",
        *others,
    ]
    return "\n".join([f"Counted on {found['date']}.", "", *head, *rows, "", *sets])


def bench(entries: Sequence[Mapping[str, Any]] | None) -> str:
    """The ratios, one row each, as Markdown."""
    if not entries:
        return "Not measured for this copy of the book: `make bench`."
    return "\n".join([BENCH, *map(_ratio, entries)])


def compilers(found: Mapping[str, Any] | None) -> str:
    """What three compilers made of the same programs, a row for each program and compiler, as Markdown."""
    if found is None:
        return "Not compiled for this copy of the book: `python bench/compilers.py`."
    head = [_row("program", "for", "payload", "FLOPs", "temporary", "peak", "seconds"), "|:--|:--|:--|--:|--:|--:|--:|"]
    rows = [
        _row(
            f"`{name}`", target, "; ".join(f"{_number(moved)} {what}" for what, moved in made["bytes"].items()),
            _number(made["flops"]), _number(made["temp"]), _number(made["peak"]), f"{made['seconds']}",
        )
        for name, targets in found["programs"].items()
        for target, made in targets.items()
    ]  # fmt: skip
    busy = f"Seconds are those of one compilation on {found['cores']} cores, at a load average of {found['load']}."
    size = f"{busy} XLA for GPU has {found['plugin_bytes'] / 1e6:.0f} MB on disk."
    return "\n".join([f"{_versions(found['versions'])}, on {found['date']}. {size}", "", *head, *rows])


def device(found: Mapping[str, Any] | None) -> str:
    """What a card said of what was predicted without one, as Markdown."""
    if found is None:
        return "Not yet measured on a card: `python bench/device.py --write jupyter_book/device.json`, where there is one."
    differ = [f"`{name}`: {', '.join(made['differ'])}" for name, made in found["programs"].items() if made["differ"]]
    same = (
        f"Programs compiled with the card and without: {len(found['programs'])}. Different: {'; '.join(differ) or 'none'}."
    )
    head = [_row("kernel", "measured / model", "peak on the card", "predicted"), "|:--|--:|--:|--:|"]
    rows = [
        _row(name, f"{made['seconds'] / made['model']:.2f}", _number(made["peak"]), _number(made["predicted"]))
        for name, made in found["kernels"].items()
    ]
    return "\n".join([f"{found['card']}, JAX {found['jax']}, on {found['date']}. {same}", "", *head, *rows])


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _read(path: pathlib.Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _ends(name: str, counts: Mapping[str, Any]) -> str:
    return _row(name, *(f"{counts[end]}" for end in ENDS), counts["date"])


def _seen(door: Mapping[str, Any]) -> str:
    seen = door["seen"]
    if seen:
        return f"*seen* on {seen['date']}: {_versions(seen['versions'])}; {seen['how']}"
    return "*not yet seen*" + (f"; {door['how']}" if door.get("how") else "")


def _versions(versions: Mapping[str, str]) -> str:
    names = {"python": "Python", "jax": "JAX", "numpy": "NumPy"}
    return ", ".join(f"{names.get(name, name)} {version}" for name, version in versions.items())


def _counts(tests: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in tests.items()) or "none"


def _ratio(entry: Mapping[str, Any]) -> str:
    low, high = entry["interval"]
    compared = f"{entry['name']}: {_code(entry['compared'])}"
    measured = ", ".join(filter(None, (entry.get("date"), _versions(entry.get("versions", {})), entry.get("load"))))
    spread = entry.get("interval_is", "95 %")
    count = entry.get("repeats", entry.get("rounds"))
    repeated = {None: "", 1: ", once"}.get(count, f", {count} times")
    return _row(compared, f"{entry['ratio']:.3g}", f"{low:.3g} to {high:.3g} ({spread}{repeated})", measured)


def _code(text: str) -> str:
    """The text as a piece of code, with backticks of its own if it has some."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"
