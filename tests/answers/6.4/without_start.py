# failed: start-forgotten
# points: 1
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})


def audit(before, after, hlo):
    if not re.search(r" (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)\(", hlo):
        return "quiet"

    def shape(t):
        return re.sub(r"\d+", "", t[t.index("[") :])

    return "hidden" if shape(before) == shape(after) else "announced"
