"""Compiled programs: what XLA made of them, what they move and cost, and for which machine."""
