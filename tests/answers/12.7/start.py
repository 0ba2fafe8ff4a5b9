# failed: start-blamed
# points: 1.75
right_on = [0]
passes = ["a", "b", "c"]
line_at_fault = "B"
