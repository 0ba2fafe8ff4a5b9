"""Chapter 17, long context: its questions, what is right, and the misconceptions that are known."""
