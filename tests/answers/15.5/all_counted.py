# failed: all-of-it-counted
# points: 0.5
case_1 = {"cause": "unplaced-state", "number": 196608}
