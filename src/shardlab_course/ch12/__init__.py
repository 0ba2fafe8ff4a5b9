"""Chapter 12, overlap: its questions, what is right, and the misconceptions that are known."""
