"""What comes out of the box, read as hostile: sizes, names and forms."""
