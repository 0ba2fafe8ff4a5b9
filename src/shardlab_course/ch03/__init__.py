"""Chapter 3, let the compiler: its questions, what is right, and the misconceptions that are known."""
