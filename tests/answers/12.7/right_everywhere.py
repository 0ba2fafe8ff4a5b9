# failed: right-everywhere
# points: 1.5
right_on = list(range(8))
passes = ["c", "b", "a"]
line_at_fault = "C"
