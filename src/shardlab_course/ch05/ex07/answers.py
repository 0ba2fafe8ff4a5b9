import math
import re

from jax import P
from jax.sharding import AbstractMesh, AxisType, NamedSharding

from shardlab_course.answers import right, wrong


@right
def without_a_mesh():
    """The same by arithmetic."""

    def plain_run(rules, leaves, sizes):
        def parts(entry):
            axes = [entry] if isinstance(entry, str) else entry or []
            return math.prod(sizes[axis] for axis in axes)

        shards, deciding = {}, []
        for path, shape in leaves.items():
            chosen = next((n for n, (pattern, _) in enumerate(rules) if re.search(pattern, path)), None)
            deciding.append(chosen)
            if chosen is None:
                shards[path] = None
                continue
            spec = rules[chosen][1] + [None] * len(shape)
            shards[path] = [size // parts(entry) for size, entry in zip(shape, spec)]
        total = sum(math.prod(shard) for shard in shards.values() if shard is not None)
        unused = [pattern for n, (pattern, _) in enumerate(rules) if n not in deciding]
        return {"shards": shards, "bytes": 4 * total, "unused": unused}


def plan(rules, leaves, sizes, *, find=re.search, first=True, default=None, counts=False):
    """What a table does, with the mistakes of the variants below."""
    on = AbstractMesh(tuple(sizes.values()), tuple(sizes), axis_types=(AxisType.Auto,) * len(sizes))
    shards, used, total = {}, set(), 0
    for path, shape in leaves.items():
        fits = [n for n, (pattern, _) in enumerate(rules) if find(pattern, path)]
        if not fits:
            shards[path] = list(shape) if default == "whole" else None
            total += math.prod(shape) if counts else 0
            continue
        chosen = fits[0] if first else fits[-1]
        used.add(chosen)
        shard = NamedSharding(on, P(*rules[chosen][1])).shard_shape(tuple(shape))
        shards[path] = list(shard)
        total += math.prod(shard)
    unused = [pattern for n, (pattern, _) in enumerate(rules) if n not in used]
    return {"shards": shards, "bytes": 4 * total, "unused": unused}


@wrong("last-match-decides", 0)
def last_rule():
    """A dict of the rules that fit, where the last one overwrites."""

    def plain_run(rules, leaves, sizes):
        return plan(rules, leaves, sizes, first=False)


@wrong("found-at-the-beginning", 0)
def looks_at_the_beginning():
    """`re.match` for `re.search`."""

    def plain_run(rules, leaves, sizes):
        return plan(rules, leaves, sizes, find=re.match)


@wrong("pattern-is-the-path", 0)
def whole_path():
    """`re.fullmatch` for `re.search`."""

    def plain_run(rules, leaves, sizes):
        return plan(rules, leaves, sizes, find=re.fullmatch)


@wrong("unruled-leaf-is-whole", 0)
def whole_by_default():
    """What no rule finds is held whole."""

    def plain_run(rules, leaves, sizes):
        return plan(rules, leaves, sizes, default="whole", counts=True)


@wrong("unruled-leaf-counts", 0)
def counted_without_a_rule():
    """The bytes of a leaf without a rule are added."""

    def plain_run(rules, leaves, sizes):
        return plan(rules, leaves, sizes, counts=True)


@wrong("one-axis-of-several", 0)
def first_axis_only():
    """Of two axes in one entry the first one cuts."""

    def plain_run(rules, leaves, sizes):
        single = [[pattern, [e[0] if isinstance(e, list) else e for e in spec]] for pattern, spec in rules]
        return plan(single, leaves, sizes)


@wrong("bytes-of-all-devices", 0)
def all_devices():
    """What all devices hold together."""

    def plain_run(rules, leaves, sizes):
        found = plan(rules, leaves, sizes)
        return found | {"bytes": found["bytes"] * math.prod(sizes.values())}


@wrong("numbers-for-bytes", 0)
def numbers():
    """Numbers are counted for bytes."""

    def plain_run(rules, leaves, sizes):
        found = plan(rules, leaves, sizes)
        return found | {"bytes": found["bytes"] // 4}


@wrong("found-is-used", 0)
def patterns_that_are_found():
    """A rule counts as used if its pattern is found somewhere."""

    def plain_run(rules, leaves, sizes):
        unused = [pattern for pattern, _ in rules if not any(re.search(pattern, path) for path in leaves)]
        return plan(rules, leaves, sizes) | {"unused": unused}


@wrong("-", 0)
def only_shards():
    """The rest is forgotten."""

    def plain_run(rules, leaves, sizes):
        return {"shards": plan(rules, leaves, sizes)["shards"]}
