# failed: only-all-ones
# points: 1.25
right_on = [0]
passes = ["a"]
line_at_fault = "C"
