"""What chapters 7 to 12 and 15 say of programs that are to be written with `jax.shard_map`, and are not, or not wholly."""

from __future__ import annotations

from shardlab_judge.question import WrongProgram

LEFT = WrongProgram(
    "left-to-the-compiler",
    "Something is left to the compiler. Perhaps there is no shard_map, or it is manual over only some axes. Perhaps a "
    "product or a move of data is outside it, or its in_specs move data. Write what one device does inside shard_map, over "
    "all axes.",
    1,
    when=lambda o: not o.manual,
)
