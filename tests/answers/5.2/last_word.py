# failed: one-word-wins
# points: 0
"""A dict from names to positions."""

import math
import re


def make_spec(expr, n):
    left, right = (side.split() for side in expr.split("->"))
    parts = [re.fullmatch(r"([a-z]*)(\d*)(\*?)", word).groups() for word in right]
    names = [name for name, _, _ in parts]
    if set(left) - set(names):
        return "dimension-missing"
    if set(names) - {"", *left}:
        return "dimension-unknown"
    sizes = [int(number or 1) for _, number, _ in parts]
    stars = sum(star == "*" for _, _, star in parts)
    share, rest = divmod(n, math.prod(sizes))
    if not stars and (share, rest) != (1, 0):
        return "numbers-do-not-multiply"
    if rest:
        return "numbers-do-not-divide"
    r = 1
    while r**stars < share:
        r += 1
    if stars and r**stars != share:
        return "no-whole-root"
    mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
    places = {name: i for i, name in enumerate(names)}
    spec = [[places[d]] for d in left]
    return {"mesh": mesh, "spec": spec}
