"""Chapter 13, FFT and solve: its questions, what is right, and the misconceptions that are known."""
