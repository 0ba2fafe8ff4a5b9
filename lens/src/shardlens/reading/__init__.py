"""What the text of a compiled program says: operations, calls and loops, collectives, what waits and what overlaps."""
