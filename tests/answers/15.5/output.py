# failed: constraint-on-the-output-blamed
# points: 0.5
case_5 = {"cause": "wrong-axis", "number": 1024}
