# failed: one-moment-counted
# points: 0.5
case_1 = {"cause": "Unplaced state", "number": 86016}
