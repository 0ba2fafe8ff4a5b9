import re

import shardlab as sl
from shardlab_course.answers import right, told, wrong


def entries(kind):
    inside = kind[kind.index("[") + 1 : -1]
    parts = re.split(r",(?![^(]*\))", inside)
    return [part.partition("@")[2] for part in parts]


@right
def another_way():
    def audit(before, after, hlo):
        kinds = r" (all-|reduce-scatter|collective-|ragged-)[a-z-]*\("
        if not re.search(kinds, hlo):
            return "quiet"
        return "hidden" if entries(before) == entries(after) else "announced"


@wrong("tuples-have-blanks", 4)
def after_equals():
    def audit(before, after, hlo):
        runs = re.search(r"= \S+ (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(-start)?\(", hlo)

        def shape(t):
            return re.sub(r"\d+", "", t[t.index("[") :])

        return "quiet" if not runs else "hidden" if shape(before) == shape(after) else "announced"


@told("all-suspected")
def all_suspected():
    kinds = {"fft": ["all-gather"], "softmax": ["all-reduce"], "sort": ["all-gather"]}
    sl.predict("6.4", kinds=kinds, compilers=["CPU", "GPU"])


@wrong("dimensions-forgotten", 4)
def axes_in_order():
    def audit(before, after, hlo):
        if not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", hlo):
            return "quiet"

        def axes(t):
            return re.findall(r"@(\w+|\([^)]*\))", t)

        return "hidden" if axes(before) == axes(after) else "announced"


@right
def by_lines():
    KINDS = ("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-permute")

    def operation(line):
        found = re.match(r"\s*(?:ROOT )?%[\w.-]+ = .*? ([a-z][a-z-]*)\(", re.sub(r"/\*.*?\*/", "", line))
        return found[1].removesuffix("-start") if found else ""

    def audit(before, after, hlo):
        if not any(operation(line) in KINDS for line in hlo.splitlines()):
            return "quiet"
        axes = [re.findall(r"\d+(?:@(\w+|\([^)]*\)))?(?=[,\]])", kind[kind.index("[") :]) for kind in (before, after)]
        return "hidden" if axes[0] == axes[1] else "announced"


@right
def digits_removed():
    def audit(before, after, hlo):
        moved = any(
            re.search(rf"\s{k}(-start)?\(", hlo)
            for k in ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
        )

        def shape(t):
            return re.sub(r"\d+", "", t[t.index("[") :])

        if not moved:
            return "quiet"
        return "hidden" if shape(before) == shape(after) else "announced"


@wrong("knows-gathers-only", 4)
def gathers_only():
    def audit(before, after, hlo):
        kinds = r" all-gather(-start)?\("
        if not re.search(kinds, hlo):
            return "quiet"
        return "hidden" if entries(before) == entries(after) else "announced"


@told("softmax-stays-at-home")
def softmax_at_home():
    sl.predict("6.4", kinds={"fft": ["all-gather"], "softmax": [], "sort": []}, compilers=["CPU", "GPU"])

    def audit(before, after, hlo):
        if not re.search(r" (all-|reduce-scatter|collective-)[a-z-]*\(", hlo):
            return "quiet"

        def shape(t):
            return re.sub(r"\d+", "", t[t.index("[") :])

        return "hidden" if shape(before) == shape(after) else "announced"


@told("typed-sharded-so-quiet")
def types_are_believed():
    sl.predict("6.4", kinds={"fft": [], "softmax": ["all-reduce"], "sort": []}, compilers=["CPU", "GPU"])


@wrong("trusts-the-type", 4)
def types_only():
    def audit(before, after, hlo):
        return "quiet" if entries(before) == entries(after) else "announced"


@wrong("compares-whole-types", 4)
def whole_types():
    def audit(before, after, hlo):
        kinds = r" (all-|reduce-scatter|collective-|ragged-)[a-z-]*\("
        if not re.search(kinds, hlo):
            return "quiet"
        return "hidden" if before == after else "announced"


@wrong("start-forgotten", 4)
def without_start():
    def audit(before, after, hlo):
        if not re.search(r" (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)\(", hlo):
            return "quiet"

        def shape(t):
            return re.sub(r"\d+", "", t[t.index("[") :])

        return "hidden" if shape(before) == shape(after) else "announced"


@wrong("counts-words", 4)
def words():
    def audit(before, after, hlo):
        kinds = "all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute"
        if not re.search(kinds, hlo):
            return "quiet"
        return "hidden" if entries(before) == entries(after) else "announced"


@right
def spelt_otherwise():
    """With underscores; one without a list, none by name."""
    sl.predict("6.4", kinds={"fft": "all_gather", "softmax": ("ALL_REDUCE",), "sort": "none"}, compilers=["CPU", "GPU"])


@wrong("-", 4)
def at_every_comma():
    def audit(before, after, hlo):
        if not re.search(r" (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(-start)?\(", hlo):
            return "quiet"

        def axes(kind):
            return [entry.partition("@")[2] for entry in kind[kind.index("[") + 1 : -1].split(",")]

        return "hidden" if axes(before) == axes(after) else "announced"
