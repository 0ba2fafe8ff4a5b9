"""Chapter 14, many hosts: its questions, what is right, and the misconceptions that are known."""
