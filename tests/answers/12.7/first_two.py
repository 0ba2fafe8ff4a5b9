# failed: not-round-by-round
# points: 1.5
right_on = [0, 1]
passes = ["a", "b", "c"]
line_at_fault = "C"
