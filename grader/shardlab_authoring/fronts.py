"""The fronts of free designs that come with the helper package.

Run as `python -m shardlab_authoring.fronts` at the root of the repository, after a design or a case has changed.
"""

from __future__ import annotations

import json
import pathlib

from shardlab_authoring import lanes


def main() -> None:
    """Write the files and say so."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    from shardlab_course.chapters import QUESTIONS
    from shardlab_judge.items.design import DesignItem, text

    for question in QUESTIONS.values():
        for item in question.items:
            if isinstance(item, DesignItem) and item.fronts is not None:
                costs = {
                    lane: kept for lane, kept in json.loads(text(item)).items() if lane in lanes.known(pathlib.Path.cwd())
                }
                item.fronts.write_text(json.dumps(costs, indent=1) + "\n")
                print(f"wrote {item.fronts.relative_to(pathlib.Path.cwd())}")


if __name__ == "__main__":
    main()
