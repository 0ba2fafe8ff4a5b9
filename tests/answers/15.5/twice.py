# failed: gradient-blamed-for-twice
# points: 0.5
case_4 = {"cause": "summed-twice", "number": 2}
