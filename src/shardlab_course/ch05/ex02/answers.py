import math
import re

from shardlab_course.answers import right, wrong


@wrong("root-of-floats", 0)
def cut_root():
    """A floating root, cut off."""

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
        r = int(share ** (1 / max(stars, 1)))
        if stars and r**stars != share:
            return "no-whole-root"
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("divides-without-stars", 0)
def divides_first():
    """Whether the numbers divide is asked before the stars are."""

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
        if rest:
            return "numbers-do-not-divide"
        if not stars and share != 1:
            return "numbers-do-not-multiply"
        r = 1
        while r**stars < share:
            r += 1
        if stars and r**stars != share:
            return "no-whole-root"
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("one-word-wins", 0)
def first_word():
    """The place of a name by list.index."""

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
        spec = [[names.index(d)] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("one-word-wins", 0)
def last_word():
    """A dict from names to positions."""

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


@wrong("copies-by-default", 0)
def lenient():
    """Numbers that are too few are taken as they are."""

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
        if stars and rest:
            return "numbers-do-not-divide"
        r = 1
        while stars and r**stars < share:
            r += 1
        if stars and r**stars != share:
            return "no-whole-root"
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("-", 0)
def raises():
    """An exception where a text was asked for."""

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
            raise ValueError("no whole root")
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@right
def rounded_root():
    """A floating root, rounded and then checked."""

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
        r = round(share ** (1 / max(stars, 1)))
        if stars and r**stars != share:
            return "no-whole-root"
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("number-of-star-forgotten", 0)
def star_alone():
    """The ratio is taken of what the numbers without a star leave."""

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
        plain = math.prod(size for size, (_, _, star) in zip(sizes, parts) if not star)
        if not stars and (share, rest) != (1, 0):
            return "numbers-do-not-multiply"
        if rest:
            return "numbers-do-not-divide"
        r = round((n / plain) ** (1 / max(stars, 1)))
        mesh = [size * r if star else size for size, (_, _, star) in zip(sizes, parts)]
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@right
def tuples():
    """Tuples for lists."""

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
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": tuple(mesh), "spec": [tuple(entry) for entry in spec]}


@wrong("-", 0)
def unknown_first():
    """The texts in another order."""

    def make_spec(expr, n):
        left, right = (side.split() for side in expr.split("->"))
        parts = [re.fullmatch(r"([a-z]*)(\d*)(\*?)", word).groups() for word in right]
        names = [name for name, _, _ in parts]
        if set(names) - {"", *left}:
            return "dimension-unknown"
        if set(left) - set(names):
            return "dimension-missing"
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
        spec = [[i for i, name in enumerate(names) if name == d] for d in left]
        return {"mesh": mesh, "spec": spec}


@wrong("-", 0)
def first_digit_alone():
    whole = make_spec

    def make_spec(text, n):
        return whole(re.sub(r"(\d)\d+", r"\1", text), n)
