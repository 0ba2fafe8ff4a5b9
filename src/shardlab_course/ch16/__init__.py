"""Chapter 16, serving: its questions, what is right, and the misconceptions that are known."""
