import shardlab as sl
from shardlab_course.answers import right, told, wrong


@wrong("additions-forgotten", 1.75)
def additions_forgotten():
    """One FLOP for each product."""

    def rate(m, k, n, seconds):
        return m * k * n / seconds


@wrong("upside-down", 2.5)
def peak_over_work():
    """The time is compared with the inverse of what the peak takes."""

    def believable(m, k, n, seconds, peak):
        return seconds >= peak / (2 * m * k * n)


@wrong("believes-everything", 2.5)
def believes_everything():
    """It believes what it is told."""

    def believable(m, k, n, seconds, peak):
        return True


@right
def by_time():
    """The shortest time that the chip would need."""

    def believable(m, k, n, seconds, peak):
        return seconds >= 2 * m * k * n / peak


@told("first-call-compiles")
def first_call_compiles():
    """The first call is taken for any call."""
    clocks = {"a": "dispatch", "b": "product", "c": "product", "d": "dispatch", "e": "product"}
    sl.predict("0.4", clocks=clocks)


@wrong("last-addition", 1.75)
def last_addition():
    """k products, k-1 additions."""

    def rate(m, k, n, seconds):
        return m * n * (2 * k - 1) / seconds


@told("microseconds-matmul")
def microseconds():
    """A call is taken for its product."""
    clocks = {"a": "product", "b": "product", "c": "compiling", "d": "product", "e": "product"}
    sl.predict("0.4", clocks=clocks)


@right
def numpy_numbers():
    """With numbers of NumPy."""
    import numpy as np

    def rate(m, k, n, seconds):
        return np.float64(2) * m * k * n / seconds

    def believable(m, k, n, seconds, peak):
        return np.less_equal(rate(m, k, n, seconds), peak)


@told("only-one-way-to-wait")
def only_one_way_to_wait():
    """NumPy is thought not to wait."""
    clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "dispatch"}
    sl.predict("0.4", clocks=clocks)


@wrong("output-elements", 1.75)
def output_elements():
    """The elements of C are counted."""

    def rate(m, k, n, seconds):
        return 2 * m * n / seconds


@wrong("upside-down", 2.5)
def upside_down():
    """Time over work; the guard is right."""

    def rate(m, k, n, seconds):
        return seconds / (2 * m * k * n)

    def believable(m, k, n, seconds, peak):
        return 2 * m * k * n / seconds <= peak


@told("waits-for-another")
def waits_for_another():
    """Waiting after the clock has stopped."""
    clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "product", "e": "product"}
    sl.predict("0.4", clocks=clocks)


@wrong("wrong-way-round", 2.5)
def wrong_way_round():
    """It believes what is too fast."""

    def believable(m, k, n, seconds, peak):
        return rate(m, k, n, seconds) > peak


@wrong("peak-itself-refused", 2.5)
def below_the_peak():
    """A claim at the peak is refused."""

    def believable(m, k, n, seconds, peak):
        return 2 * m * k * n < peak * seconds


@wrong("last-addition", 2.5)
def one_addition_less():
    """Sums of k products with k - 1 additions."""

    def believable(m, k, n, seconds, peak):
        return m * n * (2 * k - 1) / seconds <= peak


@right
def time_at_the_peak():
    """The least time that it takes, in another order of the operations."""

    def believable(m, k, n, seconds, peak):
        return seconds >= 2.0 * m * n * k / peak


@wrong("rounded-to-whole-flops", 1.75)
def whole_flops():
    def rate(m, k, n, seconds):
        return 2 * m * k * n // seconds


@wrong("rounded-to-whole-flops", 2.5)
def parts_of_a_flop_dropped():
    def believable(m, k, n, seconds, peak):
        return int(rate(m, k, n, seconds)) <= int(peak)


@wrong("-", 2.5)
def a_hundredth_more():
    def believable(m, k, n, seconds, peak):
        return rate(m, k, n, seconds) <= 1.01 * peak
