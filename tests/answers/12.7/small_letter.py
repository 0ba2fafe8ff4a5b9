# passed
# points: 2.25
right_on = (0,)
passes = ["C", "B", "A"]
line_at_fault = "c"
