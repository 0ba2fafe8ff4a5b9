"""Chapter 11, FSDP and memory: its questions, what is right, and the misconceptions that are known."""
