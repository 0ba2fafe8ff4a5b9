"""What chapters 7 to 12 and 15 say of programs that are to be written with `jax.shard_map`, and are not, or not wholly."""

from __future__ import annotations

from shardlab_judge.question import WrongProgram

LEFT = WrongProgram(
    "left-to-the-compiler",
    "Something is left to the compiler: there is no shard_map, or it is manual over some axes only, or a product or "
    "something that moves stands outside of it, or its in_specs make data move. Write what one device does, inside, over "
    "all axes.", 1, when=lambda o: not o.manual)  # fmt: skip
