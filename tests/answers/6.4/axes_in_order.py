# failed: dimensions-forgotten
# points: 1
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})


def audit(before, after, hlo):
    if not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", hlo):
        return "quiet"

    def axes(t):
        return re.findall(r"@(\w+|\([^)]*\))", t)

    return "hidden" if axes(before) == axes(after) else "announced"
