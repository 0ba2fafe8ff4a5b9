"""What chapters from 7 on say of programs in `jax.shard_map`, and of those that should be in it and are not wholly."""

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


def promise(cause: str, hint: int = 2) -> WrongProgram:
    """The promise of equal copies that JAX could not prove, with the cause that an exercise gives it."""
    return WrongProgram("promise-not-proved", cause, hint, error="can't be statically inferred")


def promise_over_x(likely: str, hint: int = 2) -> WrongProgram:
    """The same of copies over x, with the likely reason."""
    return promise(f"out_specs promises equal copies over x, but the output's type varies over x. Perhaps {likely}", hint)
