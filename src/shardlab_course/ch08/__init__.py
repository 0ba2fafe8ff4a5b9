"""Chapter 8, collectives: its questions, what is right, and the misconceptions that are known."""
