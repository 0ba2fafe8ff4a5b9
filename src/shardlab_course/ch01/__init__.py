"""Chapter 1, meshes and shardings: its questions, what is right, and the misconceptions that are known."""
