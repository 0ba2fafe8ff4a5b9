"""Chapter 13, fft and solve: its questions, what is right, and the misconceptions that are known."""
