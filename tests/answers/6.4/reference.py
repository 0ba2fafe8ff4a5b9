# passed
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})


def entries(kind):
    inside = kind[kind.index("[") + 1 : -1]
    parts = re.split(r",(?![^(]*\))", inside)
    return [part.partition("@")[2] for part in parts]


def audit(before, after, hlo):
    kinds = r" (all-|reduce-scatter|collective-|ragged-)[a-z-]*\("
    if not re.search(kinds, hlo):
        return "quiet"
    return "hidden" if entries(before) == entries(after) else "announced"
