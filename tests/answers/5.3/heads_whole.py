# failed: heads-not-cut
# points: 1
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
