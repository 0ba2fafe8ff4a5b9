"""Chapter 10, gradients: its questions, what is right, and the misconceptions that are known."""
