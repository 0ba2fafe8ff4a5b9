"""The one error class: what happened, where, and how to mend it."""


class LensError(Exception):
    """A mistake that its reader can mend.

    Args:
        reference: kebab-case id, one per kind of mistake; a heading of the errors page.
        what: one sentence with the offending value.
        where: as the reader typed it, with the sizes on both sides.
        mend: what to try.
    Example:
        >>> print(LensError("no-mesh", "x lies on no mesh.", where="step(x)", mend="give x a sharding."))
        [no-mesh] x lies on no mesh.
          where: step(x)
          mend:  give x a sharding.
    """

    def __init__(self, reference: str, what: str, *, where: str, mend: str) -> None:
        self.reference, self.what, self.where, self.mend = reference, what, where, mend
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [f"[{self.reference}] {self.what}"]
        for label, text in (("where:", self.where), ("mend: ", self.mend)):
            first, *rest = text.splitlines() or [""]
            lines += [f"  {label} {first}", *(f"         {line}" for line in rest)]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.reference, self.what, self.where, self.mend)

    # IPython and notebooks show what this returns in place of a traceback, which would lead through our own files.
    def _render_traceback_(self) -> list[str]:
        from shardlens import raised_at

        return [*raised_at(self).splitlines(), f"{type(self).__name__}:", *str(self).splitlines()]


def shown(x: object, most: int = 60) -> str:
    """A value in one line of a message, cut off where it is long."""
    text = " ".join(repr(x).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _rebuild(kind: type[LensError], reference: str, what: str, where: str, mend: str) -> LensError:
    return kind(reference, what, where=where, mend=mend)
