"""Questions about a program that its writer handed in, with keys that a compiler made."""
