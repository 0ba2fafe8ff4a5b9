"""The beginning of a new exercise: a declaration, its place in the chapter, and the answers that its tests need.

Run as `python -m shardlab_authoring.new_question N.M` at the root of the repository. What it writes is a small exercise that
works, to be changed into another.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition
from shardlab_grader.own.new import ANSWERS, DECLARATION, EXERCISE

ID = re.compile(r"(\d+)\.(\d+)")
DECLARED = "QUESTIONS: tuple[Question, ...] = ("
JUDGE = "from shardlab_judge."
NEEDED = {
    "cases": {"Case", "Input", "axes"},
    "items.program": {"ProgramItem"},
    "question": {"Misconception", "Question"},
}


def write(root: pathlib.Path, id: str) -> list[pathlib.Path]:
    """The files that were written or changed.

    Raises:
        ShardlabError: the id is none, is taken, or its chapter is not there.
    """
    chapter = _chapter(root, id)
    declared = root / "src" / "shardlab_course" / f"ch{chapter.stem[:2]}" / "questions.py"
    answers = _answers(root, id)
    declared.write_text(_with_declaration(declared.read_text(), id))
    chapter.write_text(_with_exercise(chapter.read_text(), id))
    answers.parent.mkdir(parents=True, exist_ok=True)
    answers.write_text(ANSWERS)
    return [declared, chapter, answers]


def _chapter(root: pathlib.Path, id: str) -> pathlib.Path:
    match = ID.fullmatch(id)
    sources = {int(path.stem[:2]): path for path in edition.chapters(root)}
    if not match or int(match[1]) not in sources:
        mend = f"name a chapter and the next number in it, as in 4.8; chapters: {', '.join(map(str, sources))}."
        raise ShardlabError("unknown-question", f"there is no chapter for a question {id!r}.", where="ID=" + id, mend=mend)
    if _answers(root, id).exists():
        where = f"tests/answers/{id}.py"
        raise ShardlabError("question-exists", f"question {id} is there already.", where=where, mend="take the next number.")
    return sources[int(match[1])]


def _answers(root: pathlib.Path, id: str) -> pathlib.Path:
    return root / "tests" / "answers" / f"{id}.py"


def _with_declaration(text: str, id: str) -> str:
    """The module of questions with one more at its end, and with what it needs imported."""
    name = "QUESTION_" + id.replace(".", "_")
    text = _with_imports(text)
    above, declared, below = text.rpartition("\n" + DECLARED)
    assert declared, f"{DECLARED}...) ends every module of questions"
    lines = (DECLARED + below).splitlines(keepends=True)
    row, column = _end_of_last(DECLARED + below)
    added = f",\n    {name}," if row else f", {name}"
    lines[row] = lines[row][:column] + added + lines[row][column:].removeprefix(",")
    return f"{above}\n{DECLARATION.format(name=name, id=id)}\n{''.join(lines)}"


def _end_of_last(text: str) -> tuple[int, int]:
    """Where the last entry of the tuple ends that `text` begins with, as row and column: a bracket may stand in a string."""
    declared = ast.parse(text).body[0]
    assert isinstance(declared, ast.AnnAssign) and isinstance(declared.value, ast.Tuple)
    last = declared.value.elts[-1]
    assert last.end_lineno is not None and last.end_col_offset is not None
    return last.end_lineno - 1, last.end_col_offset


def _with_imports(text: str) -> str:
    lines = text.split("\n")
    places = [n for n, line in enumerate(lines) if line.startswith(JUDGE)]
    there = {module: set(names.split(", ")) for module, names in map(_import, (lines[n] for n in places))}
    wanted = {module: there.get(module, set()) | NEEDED.get(module, set()) for module in {*there, *NEEDED}}
    lines[places[0] : places[-1] + 1] = [f"{JUDGE}{module} import {_sorted(wanted[module])}" for module in sorted(wanted)]
    return "\n".join(lines)


def _import(line: str) -> tuple[str, str]:
    module, _, names = line.removeprefix(JUDGE).partition(" import ")
    return module, names


def _sorted(names: set[str]) -> str:
    return ", ".join(sorted(names, key=lambda name: (name.islower(), name)))


def _with_exercise(text: str, id: str) -> str:
    """The chapter with the exercise after its last one."""
    last = max((m.end() for m in re.finditer(r"^sl\.check\(.*?^```\n", text, re.MULTILINE | re.DOTALL)), default=len(text))
    return text[:last] + EXERCISE.format(id=id) + text[last:]


def main(arguments: list[str]) -> int:
    """Write the files and say what comes next; the exit status."""
    root = pathlib.Path.cwd()
    try:
        written = write(root, arguments[0] if len(arguments) == 1 else "")
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 1
    for path in written:
        print(f"wrote {path.relative_to(root)}")
    chapter = arguments[0].partition(".")[0]
    print(f"next: make it yours; then  make references notebooks CHAPTERS={chapter}")
    print(f"      and  .venv/bin/python -m pytest tests/test_answers.py -k {arguments[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
