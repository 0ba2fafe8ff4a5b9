"""Chapter 15, capstone: its questions, what is right, and the misconceptions that are known."""
