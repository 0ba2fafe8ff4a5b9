# failed: -
# points: 2
case_1 = {"cause": "unplaced-state", "number": 172_032}
case_4 = {"cause": "too-few-summed", "number": 2}
