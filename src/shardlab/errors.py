"""Mistakes that their reader can mend: the lens's error under the course's name for it, and one of expressions."""

from __future__ import annotations

from shardlens import LensError as ShardlabError

__all__ = ["ShardingError", "ShardlabError"]


class ShardingError(ShardlabError):
    """A mistake in a sharding expression, or in what it is applied to. `where` quotes it with carets below."""

    def within(self, *context: str) -> ShardingError:
        """The same mistake with more said of its place, beside the quoted expression."""
        quoted, *carets = self.where.split("\n")
        where = "\n".join(["   ".join([quoted, *filter(None, context)]), *carets])
        return type(self)(self.reference, self.what, where=where, mend=self.mend)
