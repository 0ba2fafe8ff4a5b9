# failed: zeros-left-out
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
            n = products - begun.pop(done[1])
            if n:
                found[done[1]] = n
        products += " fusion(" in line and 'dot_general"' in line
    return found
