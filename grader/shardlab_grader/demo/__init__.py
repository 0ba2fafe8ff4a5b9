"""The demonstration: a sample class, and what is expected of it."""
