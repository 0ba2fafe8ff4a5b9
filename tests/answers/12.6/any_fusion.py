# failed: every-fusion-counts
# points: 0
import re


def between(text):
    begun, found, products = {}, {}, 0
    for line in text.splitlines():
        if start := re.search(r"%(collective-permute-start\S*) =", line):
            begun[start[1]] = products
        elif done := re.search(r" collective-permute-done\(%(\S+?)\)", line):
            found[done[1]] = products - begun.pop(done[1])
        products += " fusion(" in line
    return found
