# passed
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})


def audit(before, after, hlo):
    moved = any(
        re.search(rf"\s{k}(-start)?\(", hlo)
        for k in ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
    )

    def shape(t):
        return re.sub(r"\d+", "", t[t.index("[") :])

    if not moved:
        return "quiet"
    return "hidden" if shape(before) == shape(after) else "announced"
