from shardlab_course.answers import right, wrong


@wrong("not-round-by-round", 1.5)
def first_two():
    right_on = [0, 1]


@wrong("ones-are-seen", 1.25)
def not_ones():
    passes = ["b", "c"]


@wrong("only-all-ones", 1.25)
def only_ones():
    passes = ["a"]


@wrong("ring-blamed", 1.75)
def other_line():
    line_at_fault = "E"


@wrong("product-blamed", 1.75)
def product():
    line_at_fault = "D"


@wrong("right-everywhere", 1.5)
def right_everywhere():
    right_on = list(range(8))
    passes = ["c", "b", "a"]


@wrong("scale-seems-to-help", 1.25)
def small():
    passes = ["a", "b", "c", "f"]


@right
def small_letter():
    right_on = (0,)
    passes = ["C", "B", "A"]
    line_at_fault = "c"


@wrong("start-blamed", 1.75)
def start():
    line_at_fault = "B"


@wrong("symmetry-seems-to-help", 1.25)
def symmetric():
    passes = ["a", "b", "c", "e"]


@wrong("wrong-everywhere", 1.5)
def wrong_everywhere():
    right_on = []
