"""Chapter 4, four matmul cases: its questions, what is right, and the misconceptions that are known."""
