# passed
# points: 2
import re


def between(text):
    lines = text.splitlines()
    products = [i for i, line in enumerate(lines) if re.search(r" fusion\(.*dot_general", line)]
    starts = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r" *%(collective-permute-start[.\d]*) ", line))}
    ends = {m[1]: i for i, line in enumerate(lines) if (m := re.search(r"permute-done\(%([^)]*)\)", line))}
    return {name: sum(start < i < ends[name] for i in products) for name, start in starts.items()}
