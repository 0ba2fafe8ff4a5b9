# failed: loop-overlooked
# points: 0.5
case_3 = {"cause": "summed-twice", "number": 9200}
