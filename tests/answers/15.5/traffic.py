# failed: traffic-blamed
# points: 0.5
case_1 = {"cause": "widened-first", "number": 172032}
