# passed
import re

import shardlab as sl

sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": []})
KINDS = ("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-permute")


def operation(line):
    found = re.match(r"\s*(?:ROOT )?%[\w.-]+ = .*? ([a-z][a-z-]*)\(", re.sub(r"/\*.*?\*/", "", line))
    return found[1].removesuffix("-start") if found else ""


def audit(before, after, hlo):
    if not any(operation(line) in KINDS for line in hlo.splitlines()):
        return "quiet"
    axes = [re.findall(r"\d+(?:@(\w+|\([^)]*\)))?(?=[,\]])", kind[kind.index("[") :]) for kind in (before, after)]
    return "hidden" if axes[0] == axes[1] else "announced"
