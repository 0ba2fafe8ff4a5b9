# failed: savings-counted
# points: 0.5
case_6 = {"cause": "widened-first", "number": 46080}
