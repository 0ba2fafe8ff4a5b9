"""The fronts of free designs that come with the helper package.

Run as `python -m shardlab_grader.fronts` at the root of the repository, after a design or a case has changed.
"""

from __future__ import annotations

import pathlib

FOLDER = pathlib.Path("src", "shardlab", "questions", "fronts")


def main() -> None:
    """Write the files and say so."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    from shardlab.judge import fronts
    from shardlab.questions import QUESTIONS

    FOLDER.mkdir(exist_ok=True)
    for question in QUESTIONS.values():
        if text := fronts.text(question):
            (FOLDER / f"{question.id}.json").write_text(text)
            print(f"wrote {FOLDER / question.id}.json")


if __name__ == "__main__":
    main()
