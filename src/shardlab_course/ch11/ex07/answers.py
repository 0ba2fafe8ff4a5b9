import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("outputs-are-small")
def donation():
    sl.predict("11.7", fits="a")


@told("copies-are-not-enough")
def checkpoint():
    sl.predict("11.7", fits="b")


@told("batch-is-small")
def smaller_batch():
    sl.predict("11.7", fits="d")


@wrong("exchanged", 7)
def by_number_of_elements():
    read = {"largest": "weights", "second": "gradients"}


@wrong("state-is-cut", 8.5)
def state_second():
    read = {"largest": "gradients", "second": "state"}


@wrong("activations-are-small", 7)
def activations_first():
    read = {"largest": "activations", "second": "gradients"}


@right
def array_by_array():
    def fitting(held, changes, room):
        found = []
        for name, after in changes.items():
            left = room
            for array, size in held.items():
                left -= after[array] if array in after else size
            if left >= 0:
                found.append(name)
        return found


@right
def by_what_is_saved():
    def fitting(held, changes, room):
        too_many = sum(held.values()) - room
        saved = {name: sum(held[a] - size for a, size in after.items()) for name, after in changes.items()}
        return list(filter(lambda name: saved[name] >= too_many, saved))


@wrong("exact-fit-refused", 5)
def strictly_less():
    def fitting(held, changes, room):
        return [name for name, after in changes.items() if sum({**held, **after}.values()) < room]


@wrong("others-forgotten", 5)
def changed_arrays_only():
    def fitting(held, changes, room):
        return [name for name, after in changes.items() if sum(after.values()) <= room]


@wrong("new-sizes-forgotten", 5)
def as_if_nothing_were_left():
    def fitting(held, changes, room):
        too_many = sum(held.values()) - room
        return [name for name, after in changes.items() if sum(held[array] for array in after) >= too_many]


@wrong("left-taken-for-saved", 5)
def subtracts():
    def fitting(held, changes, room):
        return [name for name, after in changes.items() if sum(held.values()) - sum(after.values()) <= room]


@wrong("counted-twice", 5)
def adds_to_all():
    def fitting(held, changes, room):
        return [name for name, after in changes.items() if sum([*held.values(), *after.values()]) <= room]


@wrong("largest-alone", 5)
def largest():
    def fitting(held, changes, room):
        return [name for name, after in changes.items() if max({**held, **after}.values()) <= room]


@wrong("changes-add-up", 5)
def writes_into_held():
    def fitting(held, changes, room):
        found = []
        for name, after in changes.items():
            held.update(after)
            if sum(held.values()) <= room:
                found.append(name)
        return found


@wrong("only-the-best", 5)
def stops_at_the_best():
    def fitting(held, changes, room):
        sizes = {name: sum({**held, **after}.values()) for name, after in changes.items()}
        name = min(sizes, key=sizes.get)
        return [name] if sizes[name] <= room else []
