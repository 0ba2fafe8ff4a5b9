"""Chapter 9, tensor parallel: its questions, what is right, and the misconceptions that are known."""
