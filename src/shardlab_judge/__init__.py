"""The judge: an answer as JSON and a question in, a verdict out. It runs the same in a notebook, a test and the grader."""
