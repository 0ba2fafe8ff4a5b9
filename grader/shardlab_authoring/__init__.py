"""For those who write the course: editions, numbers in prose, outputs, references, new exercises."""
