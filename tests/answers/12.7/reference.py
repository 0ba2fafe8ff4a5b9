# passed
# points: 2.25
right_on = [0]
passes = ["a", "b", "c"]
line_at_fault = "C"
