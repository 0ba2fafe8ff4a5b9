"""Chapter 5, sharding expressions: its questions, what is right, and the misconceptions that are known."""
