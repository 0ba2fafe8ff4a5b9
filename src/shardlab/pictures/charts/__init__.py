"""Where cells look for the frame of a chart."""
