"""Chapter 7, shard map: its questions, what is right, and the misconceptions that are known."""
