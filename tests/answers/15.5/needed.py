# failed: needed-sum-counted
# points: 0.5
case_3 = {"cause": "sum-in-loop", "number": 9600}
