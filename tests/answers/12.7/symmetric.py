# failed: symmetry-seems-to-help
# points: 1.25
right_on = [0]
passes = ["a", "b", "c", "e"]
line_at_fault = "C"
