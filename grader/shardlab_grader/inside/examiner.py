"""The child that measures programs for a viva, in the judge's sandbox; a program of a student's may kill it, and only it.

    python -P examiner.py JOB OUTPUT

JOB is JSON: `programs`, a list of `{"question", "item", "change", "module"}`, where `change` is the number of the case in
`shardlab_course.viva.changes.changes`; `seed`, from which arrays are drawn.

OUTPUT is JSON lines, `{"program": n, "facts": {...}}`, as `shardlab_course.viva.facts.facts` makes them, or
`{"program": n, "refused": text}`. Those that follow one which killed the child are not there.
"""

from __future__ import annotations

import base64
import json
import pathlib
import sys
from typing import Any

from shardlab_course.chapters import QUESTIONS
from shardlab_course.viva.changes import changes
from shardlab_course.viva.facts import facts


def warm() -> None:
    """What measuring needs initialised once, before a server forks; no backend of JAX is started."""
    if "jax" in sys.modules:
        from shardlens import warm_jax

        warm_jax(public=False)


def main(job: str, output: str) -> None:
    """Measure everything in the job."""
    read = json.loads(pathlib.Path(job).read_text())
    with open(output, "a", encoding="utf-8") as file:
        for number, program in enumerate(read["programs"]):
            try:
                line = {"program": number, "facts": _facts(program, read["seed"])}
            except Exception as error:
                line = {"program": number, "refused": f"{type(error).__name__}: {error}"[:300]}
            file.write(json.dumps(line) + "\n")
            file.flush()


def _facts(program: dict[str, Any], seed: int) -> dict[str, Any]:
    item: Any = next(item for item in QUESTIONS[program["question"]].items if item.name == program["item"])
    return facts(item, changes(item)[program["change"]].case, base64.b64decode(program["module"]), seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
