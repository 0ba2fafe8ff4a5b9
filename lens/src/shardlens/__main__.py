"""`python -m shardlens`: the command `shardlens`."""

from __future__ import annotations

from shardlens.command import main

if __name__ == "__main__":
    main()
