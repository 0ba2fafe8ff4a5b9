"""Pictures: of placements, programs, rings and costs; each as text, for terminals, and as SVG."""
