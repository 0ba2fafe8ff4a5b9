"""A term: what a course decides for itself, deadlines of sections, extensions, and the penalty for lateness."""
