# failed: tuples-have-blanks
# points: 1
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})


def audit(before, after, hlo):
    runs = re.search(r"= \S+ (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(-start)?\(", hlo)

    def shape(t):
        return re.sub(r"\d+", "", t[t.index("[") :])

    return "quiet" if not runs else "hidden" if shape(before) == shape(after) else "announced"
