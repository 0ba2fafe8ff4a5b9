"""Charts: costs, memory, roofline and schedule."""
