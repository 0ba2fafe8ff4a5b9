from shardlab_course.answers import right, wrong


@wrong("not-round-by-round", 4.5)
def first_two():
    right_on = [0, 1]


@wrong("ones-are-seen", 4)
def not_ones():
    passes = ["b", "c"]


@wrong("only-all-ones", 4)
def only_ones():
    passes = ["a"]


@wrong("ring-blamed", 5.5)
def other_line():
    line_at_fault = "E"


@wrong("product-blamed", 5.5)
def product():
    line_at_fault = "D"


@wrong("right-everywhere", 4.5)
def right_everywhere():
    right_on = list(range(8))
    passes = ["c", "b", "a"]


@wrong("scale-seems-to-help", 4)
def small():
    passes = ["a", "b", "c", "f"]


@right
def small_letter():
    right_on = (0,)
    passes = ["C", "B", "A"]
    line_at_fault = "c"


@wrong("start-blamed", 5.5)
def start():
    line_at_fault = "B"


@wrong("symmetry-seems-to-help", 4)
def symmetric():
    passes = ["a", "b", "c", "e"]


@wrong("wrong-everywhere", 4.5)
def wrong_everywhere():
    right_on = []
