# failed: one-of-two-gathers
# points: 0.5
case_2 = {"cause": "cut-goes-to-loop", "number": 9216}
