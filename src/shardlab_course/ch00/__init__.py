"""Chapter 0, first light: its questions, what is right, and the misconceptions that are known."""
