# failed: named-fusions-only
# points: 0
import re


def between(text):
    begun, found, products = {}, {}, 0
    for line in text.splitlines():
        start = re.search(r"%(collective-permute-start\S*) =", line)
        done = re.search(r" collective-permute-done\(%(\S+?)\)", line)
        if start:
            begun[start[1]] = products
        elif done:
            found[done[1]] = products - begun.pop(done[1])
        products += line.strip().startswith("%fusion") and 'dot_general"' in line
    return found
