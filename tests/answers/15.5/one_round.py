# failed: bytes-of-one-round
# points: 0.5
case_3 = {"cause": "sum-in-loop", "number": 400}
