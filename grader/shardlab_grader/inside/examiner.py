"""The child that measures programs for a viva, in the judge's sandbox; a program of a student's may kill it, and only it.

    python -P examiner.py JOB OUTPUT

JOB is JSON: `programs`, a list of what `shardlab_course.viva.facts.examined` takes; `seed`, from which arrays are drawn.

OUTPUT is JSON lines, `{"program": n, ...}` with what `examined` returns. Those that follow one which killed the child are
not there.
"""

from __future__ import annotations

import json
import pathlib
import sys

from shardlab_course.viva.facts import examined


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
            file.write(json.dumps({"program": number, **examined(program, read["seed"])}) + "\n")
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
