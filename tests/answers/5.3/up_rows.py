# failed: up-by-rows
# points: 1
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
