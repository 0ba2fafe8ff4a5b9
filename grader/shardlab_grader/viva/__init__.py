"""`viva`: oral questions about what each student handed in."""
