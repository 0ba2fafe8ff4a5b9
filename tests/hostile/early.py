"""Notebooks that a cell ends early, all of whose answers are right: what follows counts."""

from __future__ import annotations

from .cases import cells

EXIT = "import os; os._exit(0)"
CASES = (
    cells("leaves", EXIT, right="all"),
    cells("fails", "import os; os._exit(3)", right="90.1 90.2 90.3", at="q90-3"),
    cells("crashes", "import ctypes; ctypes.string_at(0)", right="all", at="q90-2-answer"),
    cells("aborts", "import os; os.abort()", right="all", at="q90-4"),
    cells("stops", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", right="all"),
    cells("ends-when-asked", "def double(n): os._exit(0)\nimport os", right="90.2 90.3 90.4", at="q90-1"),
    cells("prints-without-end", "import os\nwhile True: os.write(2, b'x' * 1_000_000)", right="all"),
)  # fmt: skip
