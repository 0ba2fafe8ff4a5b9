"""Plans for contractions: what the textbook's ways cost, what the compiler does, and which placements are cheap."""
