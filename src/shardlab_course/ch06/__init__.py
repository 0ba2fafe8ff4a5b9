"""Chapter 6, explicit sharding: its questions, what is right, and the misconceptions that are known."""
