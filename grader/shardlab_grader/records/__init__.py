"""What is kept of a class: verdicts by content, keys, names."""
