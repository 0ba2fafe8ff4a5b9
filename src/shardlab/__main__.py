"""`python -m shardlab`: what the compiler makes of a function, and what there is to compile with."""

from __future__ import annotations

import io
import sys

from shardlab.command import main

if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal's encoding may lack what tables are drawn with
    sys.exit(main())
