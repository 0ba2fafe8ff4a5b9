# failed: embedding-by-columns
# points: 1
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
