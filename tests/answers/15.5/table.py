# failed: table-counted
# points: 0.5
case_5 = {"cause": "table_gathered", "number": 65536}
