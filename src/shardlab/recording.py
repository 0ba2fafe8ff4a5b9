"""Whether answers are only recorded: so it is where a class is graded, away from the questions' keys."""

import os


def recording() -> bool:
    """True inside the grader's sandbox, where `SHARDLAB_RECORD` is set."""
    return os.environ.get("SHARDLAB_RECORD") == "1"
