"""Damaged notebooks. Where the student's cells can be found, a right answer keeps its points; a forged mark wins none."""

from __future__ import annotations

import copy
import json
import os
import pathlib
from typing import Any

import nbformat

from .cases import NAME, POINTS, WRONG, Notebook, answered, cells, damaged, find, folder, grade_id, save

NONASCII = "# naïve façade, 数学"


def text(notebook: Notebook) -> str:
    """The file's text, with letters outside ASCII written out."""
    find(notebook, "q90-1-answer")["source"] += f"\n{NONASCII}"
    return json.dumps(notebook, ensure_ascii=False)


def cut(notebook: Notebook) -> str:
    """An upload that broke off in the middle of the last exercise's solution."""
    whole = json.dumps(notebook)
    return whole[: whole.index("AxisType.Auto")]


def conflict(notebook: Notebook) -> str:
    """What a version control system makes of two people's work."""
    whole = json.dumps(notebook, indent=1)
    mark = whole.index('"# ') if '"# ' in whole else whole.index('"cells": [') + 11
    at = whole.index("  {", mark)
    other = json.dumps({"cell_type": "markdown", "metadata": {}, "source": "theirs"})
    return f"{whole[:at]}<<<<<<< HEAD\n=======\n{other},\n>>>>>>> theirs\n{whole[at:]}"


def version_3(notebook: Notebook) -> str:
    """The same in the format of 2013."""
    return nbformat.writes(nbformat.convert(nbformat.from_dict(notebook), 3), version=nbformat.NO_CONVERT)


def future(notebook: Notebook) -> None:
    notebook["nbformat"], notebook["nbformat_minor"] = 6, 2
    for cell in notebook["cells"]:
        cell["new_field"] = {"since": 6}


def lists_of_lines(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def no_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = {}
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def missing_metadata(notebook: Notebook) -> None:
    del notebook["metadata"]
    for cell in notebook["cells"]:
        del cell["metadata"]


def null_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = None
    for cell in notebook["cells"]:
        cell["metadata"] = None


def strange_metadata(notebook: Notebook) -> None:
    for cell, value in zip(
        notebook["cells"], [7, "x", [], {"nbgrader": None}, {"nbgrader": {"grade_id": ["q90-1"]}}, True] * 9
    ):
        cell["metadata"] = value


def no_ids(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        del cell["id"]


def same_ids(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "same"


def bad_ids(notebook: Notebook) -> None:
    for cell, id in zip(notebook["cells"], [7, None, "<script>", "x" * 999, "../x", ""] * 9):
        cell["id"] = id


def null_fields(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell |= {"outputs": None, "execution_count": "seven", "attachments": None}


def duplicated(notebook: Notebook) -> None:
    notebook["cells"] = [copy.deepcopy(cell) for cell in notebook["cells"] for _ in range(2)]


def copied_wrong_first(notebook: Notebook) -> None:
    """A wrong first try under the same id stays above the right answer."""
    at = notebook["cells"].index(find(notebook, "q90-1-answer"))
    notebook["cells"].insert(at, find(notebook, "q90-1-answer") | {"source": WRONG["q90-1-answer"]})


def merged(notebook: Notebook) -> None:
    """All answers in one cell without an id, at the top; the others deleted."""
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = [source for source in code if not source.startswith("sl.check")]
    new = {"cell_type": "code", "id": "all", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"] = [new | {"source": "\n".join(sources)}]


def moved_up(notebook: Notebook) -> None:
    """All grade cells stand at the top, before what they ask for."""
    notebook["cells"].sort(key=lambda cell: not cell["source"].startswith("sl.check"))


def no_grade_cells(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["source"].startswith("sl.check")]


def no_first_cells(notebook: Notebook) -> None:
    """Only answers and checks are left: the cells that import are gone."""
    notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell)]


def retyped(notebook: Notebook) -> None:
    """An answer as Markdown, a grade cell as raw text."""
    find(notebook, "q90-1-answer")["cell_type"] = "markdown"
    find(notebook, "q90-3")["cell_type"] = "raw"


def unknown_type(notebook: Notebook) -> None:
    find(notebook, "q90-1-answer")["cell_type"] = "Code"
    notebook["cells"].insert(0, {"cell_type": "video", "source": "x", "metadata": {}})


def retagged(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = [
            "skip-execution",
            "raises-exception",
            "remove-cell",
            "remove-input",
            "hide",
            "parameters",
        ]


def swapped_ids(notebook: Notebook) -> None:
    """The ids of the answer and of its grade cell are exchanged."""
    one, two = find(notebook, "q90-1-answer"), find(notebook, "q90-1")
    one["metadata"], two["metadata"] = two["metadata"], one["metadata"]


def crossed_ids(notebook: Notebook) -> None:
    """The ids of two answers are exchanged."""
    one, two = find(notebook, "q90-1-answer"), find(notebook, "q90-3-answer")
    one["metadata"], two["metadata"] = two["metadata"], one["metadata"]


def more_points(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if grade_id(cell):
            cell["metadata"]["nbgrader"] |= {"points": 100, "locked": False, "schema_version": 99, "max_points": 1e9}


def other_schemas(notebook: Notebook) -> None:
    for cell, version in zip(notebook["cells"], [1, 2, 0, -1, "3", None, 10**9] * 9):
        if grade_id(cell):
            cell["metadata"]["nbgrader"]["schema_version"] = version


def new_questions(notebook: Notebook) -> None:
    """Grade cells that the release does not have."""
    for number in range(5, 9):
        new = copy.deepcopy(find(notebook, "q90-1"))
        new["metadata"]["nbgrader"] |= {"grade_id": f"q90-{number}", "points": 10}
        notebook["cells"].append(new | {"source": f'sl.check("90.{number}", double)', "id": f"q90-{number}"})


def check_of_another(notebook: Notebook) -> None:
    """Every grade cell asks for the first question."""
    for number in range(2, 5):
        find(notebook, f"q90-{number}")["source"] = 'sl.check("90.1", double)'


def answer_in_the_grade_cell(notebook: Notebook) -> None:
    """The student wrote into the cell that should have stayed as it was."""
    answer, asked = find(notebook, "q90-1-answer"), find(notebook, "q90-1")
    asked["source"] = f"{answer['source']}\nprint(double(4))\n{asked['source']}"
    answer["source"] = "# see below"


def answer_after_the_check(notebook: Notebook) -> None:
    answer, asked = find(notebook, "q90-3-answer"), find(notebook, "q90-3")
    asked["source"] += f"\n\n{answer['source']}"
    answer["source"] = ""


def magics(notebook: Notebook) -> None:
    """Magics, shell lines and help in the answers' cells."""
    find(notebook, "q90-1-answer")["source"] += (
        "\n%timeit -n1 -r1 double(2)\n!echo $HOME\n?double\n%%nothing\n%matplotlib inline"
    )
    find(notebook, "q90-3-answer")["source"] = "%%capture\n" + find(notebook, "q90-3-answer")["source"]


def other_languages(notebook: Notebook) -> None:
    new = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    sources = [
        "%%bash\nexit 1",
        "%%javascript\nalert(1)",
        "%%html\n<script>alert(1)</script>",
        "%%perl\ndie",
        "%load_ext cython",
    ]
    notebook["cells"][1:1] = [new | {"id": f"n{i}", "source": source} for i, source in enumerate(sources)]


def surrogates(notebook: Notebook) -> None:
    find(notebook, "q90-1-answer")["source"] += "\n# \ud800 half a character"
    notebook["cells"].insert(0, {"cell_type": "markdown", "id": "x", "metadata": {"\udfff": "\ud800"}, "source": "\udead"})


def nulls(notebook: Notebook) -> None:
    new = {"cell_type": "code", "id": "nul", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"].insert(0, new | {"source": "x = 1\0; \x1b[2J\x07"})


def huge_outputs(notebook: Notebook) -> None:
    """An honest notebook that printed too much; only its outputs are large."""
    output = {"output_type": "stream", "name": "stdout", "text": ["x" * 1000] * 15_000}
    find(notebook, "q90-1-answer")["outputs"] = [output]


def hostile_outputs(notebook: Notebook) -> None:
    data = {"text/plain": "100.0", "text/html": "<script>alert(1)</script>", "application/javascript": "alert(1)"}
    output = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [output]


def many_cells(notebook: Notebook) -> None:
    notebook["cells"] += [{"cell_type": "raw", "id": f"r{n}", "metadata": {}, "source": ""} for n in range(60_000)]


def nested(notebook: Notebook) -> str:
    deep: Any = "[" * 100_000 + "]" * 100_000
    return json.dumps(notebook)[:-1] + f', "deep": {deep}}}'


def foreign_kernel(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "kernelspec": {"name": "evil", "display_name": "evil", "language": "R"},
        "language_info": {"name": "R"},
    }


def link(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").rename(place / "mine.ipynb")
    (place / f"{NAME}.ipynb").symlink_to("mine.ipynb")


def link_to_a_neighbour(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").unlink()
    (place / f"{NAME}.ipynb").symlink_to(place.parents[1] / "aaa-honest" / NAME / f"{NAME}.ipynb")


def folder_of_a_neighbour(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").unlink()
    place.rmdir()
    place.symlink_to(place.parents[1] / "aaa-honest" / NAME)


def links_beside(place: pathlib.Path) -> None:
    """Links that would be copied into the student's own feedback folder."""
    course = place.parents[2]
    for name, target in {"a.db": course / "gradebook.db", "b.txt": course.parent / "home" / "secret", "c": "/etc/shadow",
                         "d": place.parents[1] / "aaa-honest", "e": place, "f": "/dev/zero"}.items():  # fmt: skip
        (place / name).symlink_to(target)


def pipe_beside(place: pathlib.Path) -> None:
    os.mkfifo(place / "pipe")


def pipe_as_notebook(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").unlink()
    os.mkfifo(place / f"{NAME}.ipynb")


def pipe_as_time(place: pathlib.Path) -> None:
    os.mkfifo(place / "timestamp.txt")


def endless_time(place: pathlib.Path) -> None:
    (place / "timestamp.txt").symlink_to("/dev/zero")


def sparse_beside(place: pathlib.Path) -> None:
    with open(place / "large.bin", "wb") as file:
        file.truncate(2**42)


def too_large(place: pathlib.Path) -> None:
    with open(place / f"{NAME}.ipynb", "ab") as file:
        file.truncate(2**40)


def renamed(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").rename(place / "90 small (final).ipynb")


def renamed_among_others(place: pathlib.Path) -> None:
    renamed(place)
    (place / "scratch.ipynb").write_text('{"cells": []}')


def renamed_twice(place: pathlib.Path) -> None:
    renamed(place)
    (place / "90 copy.ipynb").write_bytes((place / "90 small (final).ipynb").read_bytes())


def a_folder(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").unlink()
    (place / f"{NAME}.ipynb").mkdir()


def lost(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").unlink()


NOT_A_NOTEBOOK = {"right": "", "status": "ungraded", "reason": "not a notebook"}
CASES = (
    damaged("byte-order-mark", lambda n: b"\xef\xbb\xbf" + text(n).encode()),
    damaged("utf-16", lambda n: text(n).encode("utf-16")),
    damaged("utf-32", lambda n: text(n).encode("utf-32")),
    damaged("latin-1", lambda n: json.dumps(n).replace("# A small", "# Ein gro\xdfes").encode("latin-1")),
    damaged("windows-lines", lambda n: json.dumps(n, indent=1).replace("\n", "\r\n").encode()),
    damaged("cut-off", cut, "90.1 90.2 90.3"),
    damaged("trailing-comma", lambda n: json.dumps(n)[:-1] + ",}"),
    damaged("garbage-after", lambda n: json.dumps(n) + "\n\0\0</html>"),
    damaged("garbage-before", lambda n: ")]}',\n" + json.dumps(n)),
    damaged("merge-conflict", conflict),
    damaged("not-a-number", lambda n: json.dumps(n).replace('"execution_count": null', '"execution_count": NaN')),
    damaged("format-3", version_3),
    damaged("format-of-the-future", future),
    damaged("format-missing", lambda n: n.pop("nbformat") and n.pop("nbformat_minor") and None),
    damaged("format-null", lambda n: n.update(nbformat=None, nbformat_minor="x")),
    damaged("lists-of-lines", lists_of_lines),
    damaged("no-metadata", no_metadata),
    damaged("missing-metadata", missing_metadata),
    damaged("null-metadata", null_metadata),
    damaged("strange-metadata", strange_metadata),
    damaged("no-cell-ids", no_ids),
    damaged("same-cell-ids", same_ids),
    damaged("bad-cell-ids", bad_ids),
    damaged("null-fields", null_fields),
    damaged("duplicated-cells", duplicated),
    damaged("wrong-copy-first", copied_wrong_first),
    damaged("merged-into-one", merged),
    damaged("checks-first", moved_up),
    damaged("deleted-checks", no_grade_cells),
    damaged("deleted-imports", no_first_cells),
    damaged("deleted-all", lambda n: n["cells"].clear(), "", status="ungraded", reason="not a notebook of"),
    damaged("retyped", retyped),
    damaged("unknown-type", unknown_type),
    damaged("retagged", retagged),
    damaged("swapped-ids", swapped_ids),
    damaged("crossed-ids", crossed_ids),
    damaged("more-points", more_points),
    damaged("other-schemas", other_schemas),
    damaged("new-questions", new_questions),
    damaged("check-of-another", check_of_another),
    damaged("answer-in-the-check", answer_in_the_grade_cell),
    damaged("answer-after-the-check", answer_after_the_check),
    damaged("magics", magics),
    damaged("other-languages", other_languages),
    damaged("surrogates", surrogates),
    damaged("nulls", nulls),
    damaged("huge-outputs", huge_outputs),
    damaged("hostile-outputs", hostile_outputs),
    damaged("many-cells", many_cells),
    damaged("nested", nested),
    damaged("foreign-kernel", foreign_kernel),
    damaged("empty", lambda n: b"", **NOT_A_NOTEBOOK),
    damaged("prose", lambda n: "Dear Professor, the link is below.", **NOT_A_NOTEBOOK),
    damaged("an-image", lambda n: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), **NOT_A_NOTEBOOK),
    damaged("a-list", lambda n: "[]", **NOT_A_NOTEBOOK),
    damaged("cells-are-text", lambda n: n.update(cells="many"), **NOT_A_NOTEBOOK),
    damaged("brackets", lambda n: '{"a":' * 100_000, **NOT_A_NOTEBOOK),
    damaged("millions-of-cells", lambda n: '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + "{}," * 6_000_000 + "{}]}", "",
            status="ungraded", reason="not a notebook of"),
    cells("points-in-a-wrong-one", "pass", right="90.2"),
    folder("a-link", link),
    folder("a-neighbours-notebook", link_to_a_neighbour, "", status="ungraded", reason="not a regular file"),
    folder("a-neighbours-folder", folder_of_a_neighbour, "", status="ungraded", reason="is a link"),
    folder("links-beside", links_beside),
    folder("pipe-beside", pipe_beside),
    folder("pipe-as-notebook", pipe_as_notebook, "", status="ungraded", reason="not a regular file"),
    folder("pipe-as-time", pipe_as_time),
    folder("endless-time", endless_time),
    folder("sparse-beside", sparse_beside),
    folder("too-large", too_large, "", status="ungraded", reason="the limit is"),
    folder("renamed", renamed),
    folder("renamed-among-others", renamed_among_others),
    folder("renamed-twice", renamed_twice, "", status="ungraded", reason="wrong name"),
    folder("a-folder", a_folder, "", status="ungraded", reason="not a regular file"),
    folder("missing", lost, "", status="ungraded", reason="missing notebook"),
)  # fmt: skip
__all__ = ["CASES", "POINTS", "answered", "save"]
