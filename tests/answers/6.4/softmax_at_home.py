# failed: softmax-stays-at-home
# points: 2.67
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": [], "sort": []})


def audit(before, after, hlo):
    if not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", hlo):
        return "quiet"

    def shape(t):
        return re.sub(r"\d+", "", t[t.index("[") :])

    return "hidden" if shape(before) == shape(after) else "announced"
