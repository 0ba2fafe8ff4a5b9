# failed: group-the-other-way
# points: 0.5
case_4 = {"cause": "too-few-summed", "number": 4}
