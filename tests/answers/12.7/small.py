# failed: scale-seems-to-help
# points: 1.25
right_on = [0]
passes = ["a", "b", "c", "f"]
line_at_fault = "C"
