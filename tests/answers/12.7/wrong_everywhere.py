# failed: wrong-everywhere
# points: 1.5
right_on = []
passes = ["a", "b", "c"]
line_at_fault = "C"
