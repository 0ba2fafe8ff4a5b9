import re

from shardlab_course.answers import right, wrong


@wrong("every-fusion-counts", 0)
def any_fusion():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            if start := re.search(r"%(collective-permute-start\S*) =", line):
                begun[start[1]] = products
            elif done := re.search(r" collective-permute-done\(%(\S+?)\)", line):
                found[done[1]] = products - begun.pop(done[1])
            products += " fusion(" in line
        return found


@wrong("any-line-counts", 0)
def any_line():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            start = re.search(r"%(collective-permute-start\S*) =", line)
            done = re.search(r" collective-permute-done\(%(\S+?)\)", line)
            if start:
                begun[start[1]] = products
            elif done:
                found[done[1]] = products - begun.pop(done[1])
            products += "dot_general" in line
        return found


@wrong("dones-as-keys", 0)
def by_done():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            start = re.search(r"%(collective-permute-start\S*) =", line)
            done = re.search(r"%(\S+) = .* collective-permute-done\(%(\S+?)\)", line)
            if start:
                begun[start[1]] = products
            elif done:
                found[done[1]] = products - begun.pop(done[2])
            products += " fusion(" in line and 'dot_general"' in line
        return found


@right
def by_positions():
    def between(text):
        lines = text.splitlines()
        products = [i for i, line in enumerate(lines) if re.search(r" fusion\(.*dot_general", line)]
        starts = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r" *%(collective-permute-start[.\d]*) ", line))}
        ends = {m[1]: i for i, line in enumerate(lines) if (m := re.search(r"permute-done\(%([^)]*)\)", line))}
        return {name: sum(start < i < ends[name] for i in products) for name, start in starts.items()}


@wrong("copies-counted", 0)
def copies():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            if start := re.search(r"%((?:collective-permute|copy)-start\S*) =", line):
                begun[start[1]] = products
            elif done := re.search(r" (?:collective-permute|copy)-done\(%(\S+?)\)", line):
                found[done[1]] = products - begun.pop(done[1])
            products += " fusion(" in line and 'dot_general"' in line
        return found


@wrong("done-ends-the-first", 0)
def first_open():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            if start := re.search(r"%(collective-permute-start\S*) =", line):
                begun[start[1]] = products
            elif re.search(r" collective-permute-done\(%(\S+?)\)", line):
                name = next(iter(begun))
                found[name] = products - begun.pop(name)
            products += " fusion(" in line and 'dot_general"' in line
        return found


@wrong("done-ends-the-last", 0)
def last_open():
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


@wrong("named-fusions-only", 0)
def named_fusions():
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


@wrong("zeros-left-out", 0)
def no_zeros():
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


@wrong("counts-one-too-many", 0)
def one_more():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            if start := re.search(r"%(collective-permute-start\S*) =", line):
                begun[start[1]] = products
            elif done := re.search(r" collective-permute-done\(%(\S+?)\)", line):
                found[done[1]] = products - begun.pop(done[1]) + 1
            products += " fusion(" in line and 'dot_general"' in line
        return found


@wrong("percent-in-names", 0)
def percent():
    def between(text):
        begun, found, products = {}, {}, 0
        for line in text.splitlines():
            start = re.search(r"(%collective-permute-start\S*) =", line)
            done = re.search(r" collective-permute-done\((%\S+?)\)", line)
            if start:
                begun[start[1]] = products
            elif done:
                found[done[1]] = products - begun.pop(done[1])
            products += " fusion(" in line and 'dot_general"' in line
        return found
