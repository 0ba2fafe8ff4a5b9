"""Chapter 11, fsdp and memory: its questions, what is right, and the misconceptions that are known."""
