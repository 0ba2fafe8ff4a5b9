# failed: gather-blamed
# points: 0.5
case_6 = {"cause": "table-gathered", "number": 15360}
