# failed: scale-cut
# points: 1
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
