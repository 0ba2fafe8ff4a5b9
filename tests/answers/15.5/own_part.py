# failed: own-part-left-out
# points: 0.5
case_2 = {"cause": "cut-goes-to-loop", "number": 9984}
