# failed: constraint-blamed
# points: 0.5
case_2 = {"cause": "wrong-axis", "number": 15360}
