from shardlab_course.answers import wrong


@wrong("start-counts-in-and-out", 7.75)
def counters_too():
    reading["G"] = {"kind": "collective-permute", "bytes": 1032, "group": 8, "times": 1}


@wrong("done-counted-again", 7.25)
def done():
    reading["I"] = {"kind": "collective-permute", "bytes": 512, "group": 8, "times": 1}


@wrong("elements-not-bytes", 7.75)
def elements():
    reading["A"] = {"kind": "all-reduce", "bytes": 128, "group": 4, "times": 10}


@wrong("everybody-in-one-group", 7.5)
def everybody():
    reading["A"] = {"kind": "all-reduce", "bytes": 512, "group": 8, "times": 10}
    reading["D"] = {"kind": "all-reduce", "bytes": 5376, "group": 8, "times": 1}


@wrong("fusion-overlooked", 7)
def fusion():
    reading["H"] = "none"


@wrong("-", 1.75)
def half_done():
    reading = {
        "A": {"kind": "all-reduce", "bytes": 512, "group": 4, "times": 10},
        "B": "none",
        "C": ...,
        "D": ...,
        "E": ...,
        "F": ...,
        "G": ...,
        "H": ...,
        "I": ...,
    }


@wrong("start-counts-in-and-out", 7.75)
def in_and_out():
    reading["G"] = {"kind": "collective-permute", "bytes": 1024, "group": 8, "times": 1}


@wrong("counts-the-fusions-inside", 6.25)
def inside():
    reading["F"] = {"kind": "all-reduce", "bytes": 524288, "group": 4, "times": 1}
    reading["H"] = "none"


@wrong("loop-counted-once", 7.75)
def loop_once():
    reading["A"] = {"kind": "all-reduce", "bytes": 512, "group": 4, "times": 1}


@wrong("counts-groups", 7.5)
def number_of_groups():
    reading["A"] = {"kind": "all-reduce", "bytes": 512, "group": 2, "times": 10}
    reading["C"] = {"kind": "all-to-all", "bytes": 3072, "group": 2, "times": 1}


@wrong("first-of-tuple", 7.75)
def one_of_four():
    reading["C"] = {"kind": "all-to-all", "bytes": 768, "group": 4, "times": 1}


@wrong("first-of-tuple", 7.75)
def one_of_two():
    reading["D"] = {"kind": "all-reduce", "bytes": 4608, "group": 4, "times": 1}


@wrong("believes-op-name", 7.25)
def op_name():
    reading["B"] = {"kind": "all-to-all", "bytes": 768, "group": 4, "times": 1}


@wrong("counts-the-taking-out", 7.25)
def taken_out():
    reading["E"] = {"kind": "all-reduce", "bytes": 4608, "group": 4, "times": 1}


@wrong("counts-what-goes-in", 7.75)
def what_goes_in():
    reading["H"] = {"kind": "reduce-scatter", "bytes": 524288, "group": 4, "times": 1}
