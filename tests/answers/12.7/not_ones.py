# failed: ones-are-seen
# points: 1.25
right_on = [0]
passes = ["b", "c"]
line_at_fault = "C"
