"""Compiling for other machines: what people hand in, lowered, and a process that compiles it and may die."""
