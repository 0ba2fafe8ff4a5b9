"""The course: the questions of every chapter, and what a student calls about them."""
