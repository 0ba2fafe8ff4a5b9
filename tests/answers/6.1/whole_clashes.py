# failed: none-against-axis-clashes
# points: 2.25
import shardlab as sl

types = {
    "a": "float32[16@y,8@x]",
    "b": "float32[16@y]",
    "c": "float32[8@x,1,16@y]",
    "d": "float32[128@y]",
    "e": "float32[8@x,4@y,4]",
    "f": "error",
    "g": "float32[8@x,12@y]",
    "h": "error",
    "i": "float32[8@x,12]",
    "j": "float32[8,16@y]",
}
sl.predict("6.1", types=types)
