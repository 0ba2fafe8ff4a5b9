# failed: done-ends-the-last
# points: 0
import re


def between(text):
    begun, found, products = {}, {}, 0
    for line in text.splitlines():
        if start := re.search(r"%(collective-permute-start\S*) =", line):
            begun[start[1]] = products
        elif re.search(r" collective-permute-done\(%(\S+?)\)", line):
            name = next(reversed(begun))
            found[name] = products - begun.pop(name)
        products += " fusion(" in line and 'dot_general"' in line
    return found
