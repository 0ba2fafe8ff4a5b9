from shardlab_course.answers import right, wrong


def axes(entry):
    return {entry} if isinstance(entry, str) else set(entry or ())


@right
def another_way():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("any-shared-axis-clashes", 0)
def any_shared_axis():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("axes-not-compared", 0)
def axes_not_compared():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any((a[j] is None) != (b[j] is None) for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("batch-letters-contracted", 0)
def batch_contracted():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@right
def by_axis():
    def classify(subscripts, left, right):
        inputs, out = subscripts.split("->")
        first, second = inputs.split(",")

        def owners(letters, spec):
            """The letter that each mesh axis shards, and its rank within that letter."""
            found = {}
            for letter, entry in zip(letters, spec):
                names = entry if isinstance(entry, list) else [entry] if entry else []
                for rank, name in enumerate(names):
                    found[name] = (letter, rank)
            return found

        one, two = owners(first, left), owners(second, right)
        summed = (set(first) & set(second)) - set(out)
        for axis in one.keys() & two.keys():
            letters = {one[axis][0], two[axis][0]}
            if len(letters) == 2 and not letters & summed:
                return 4
        parts_one = {axis: at for axis, at in one.items() if at[0] in summed}
        parts_two = {axis: at for axis, at in two.items() if at[0] in summed}
        if parts_one != parts_two:
            return 2
        return 3 if parts_one else 1


@wrong("clash-asked-last", 0)
def clash_last():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        return 1


@wrong("one-contracted-letter", 0)
def one_letter():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out][:1]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("one-contracted-letter", 0)
def last_letter():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out][-1:]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("axes-in-any-order", 0)
def sets():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(axes(a[i]) & axes(b[k]) for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(axes(a[j]) != axes(b[j]) for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("-", 0)
def only_matrices():
    def classify(subscripts, left, right):
        if left[1] != right[0]:
            return 2
        if left[1] is not None:
            return 3
        return 4 if left[0] is not None and left[0] == right[1] else 1


@wrong("pairs-compared-whole", 0)
def pairs_whole():
    def classify(subscripts, left, right):
        first, second, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(first, left)), dict(zip(second, right))
        contracted = [j for j in a if j in b and j not in out]
        if any(a[i] is not None and a[i] == b[k] for i in a for k in b if i != k and i in out and k in out):
            return 4
        if any(a[j] != b[j] for j in contracted):
            return 2
        if any(a[j] for j in contracted):
            return 3
        return 1


@wrong("-", 0)
def raises():
    def classify(subscripts, left, right):
        first, second = subscripts.split(",")
        return {"x": 1}[left[0]]
