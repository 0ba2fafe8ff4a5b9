# failed: pattern-finds-nothing
# points: 0
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
