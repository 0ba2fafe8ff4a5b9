from shardlab_course.answers import right, wrong


@wrong("bias-cut-too-much", 3.5)
def bias_cut():
    """Every bias is cut."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("bias-left-whole", 0)
def bias_whole():
    """The bias of up falls under all others."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("down-by-columns", 3.5)
def down_columns():
    """The second product is cut like the first."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f d@model"),
        (".*", "... -> ..."),
    ]


@wrong("nothing-cut", 0)
def everything_whole():
    """Copies everywhere."""
    rules = [("", "... -> ...")]


@wrong("general-rule-first", 0)
def general_first():
    """The rule for all others stands first."""
    rules = [
        (".*", "... -> ..."),
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
    ]


@wrong("heads-not-cut", 3.5)
def heads_whole():
    """The width of q, k and v."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d@model h k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("leaf-forgotten", 0)
def no_rest():
    """No rule for what stays whole."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
    ]


@wrong("-", 0)
def no_table():
    """An expression, and no table."""
    rules = "... -> ..."


@wrong("-", 0)
def numbers():
    """A number for the degree: right on one mesh."""
    rules = [
        ("embed/table", "v d -> 2 v4 d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("o-by-columns", 3.5)
def o_columns():
    """The output projection is cut by its output."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h k d@model"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@right
def other_table():
    """Four rules as a dict, with dots."""
    rules = {
        "(norm[12]?/scale|down/bias)$": "d -> d",
        "table|down|attention/o": "a ... -> a@model ...",
        "attention": "... h k -> ... h@model k",
        "up": "... f -> ... f@model",
    }


@wrong("scale-cut", 3.5)
def scales_cut():
    """The norms are cut like biases."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        ("scale", "d -> d@model"),
        (".*", "... -> ..."),
    ]


@wrong("pattern-found-elsewhere", 0)
def short_patterns():
    """A pattern for the kernel takes the bias."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up", "d f -> d f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("embedding-by-columns", 3.5)
def table_columns():
    """The width of the embedding."""
    rules = [
        ("embed/table", "v d -> v d@model"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("pattern-finds-nothing", 0)
def typo():
    """A pattern with a slip."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d f@model"),
        ("up/bias", "f -> f@model"),
        ("down_kernel", "f d -> f@model d"),
        (".*", "... -> ..."),
    ]


@wrong("up-by-rows", 3.5)
def up_rows():
    """The pair the other way round."""
    rules = [
        ("embed/table", "v d -> v@model d"),
        ("[qkv]/kernel", "d h k -> d h@model k"),
        ("o/kernel", "h k d -> h@model k d"),
        ("up/kernel", "d f -> d@model f"),
        ("up/bias", "f -> f@model"),
        ("down/kernel", "f d -> f d@model"),
        (".*", "... -> ..."),
    ]
