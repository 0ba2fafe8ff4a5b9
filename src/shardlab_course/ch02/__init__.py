"""Chapter 2, what communication costs: its questions, what is right, and the misconceptions that are known."""
