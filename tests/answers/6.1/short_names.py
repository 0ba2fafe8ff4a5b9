# passed
import shardlab as sl

types = {
    "a": "f32[16@y, 8@x]",
    "b": "f32[16@y]",
    "c": "f32[8@x, 1, 16@y]",
    "d": "f32[128@y]",
    "e": "f32[8@x, 4@y, 4]",
    "f": "f32[8@x, 16@y]",
    "g": "f32[8@x, 12@y]",
    "h": "ShardingTypeError",
    "i": "f32[8@x, 12]",
    "j": "f32[8, 16@y]",
}
sl.predict("6.1", types=types)
