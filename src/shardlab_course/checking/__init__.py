"""What a student calls about a question: check, hint, explain, predict, and the record of progress."""
