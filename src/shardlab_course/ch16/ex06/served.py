"""Chapter 16, exercise 16.6: what all devices compute together with a cache, step by step, with something wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from shardlab_course.ch16.ex06.oracle import STEPS, norm, rotate
from shardlab_course.ch16.shared import devices
from shardlab_course.shared import rings
from shardlab_judge.cases import Observed
from shardlab_judge.rights import computed

Combine = Callable[[np.ndarray], np.ndarray]


def _total(parts: np.ndarray) -> np.ndarray:
    return np.broadcast_to(parts.sum(0), parts.shape)


def _mean(parts: np.ndarray) -> np.ndarray:
    return np.broadcast_to(parts.mean(0), parts.shape)


def _largest(parts: np.ndarray) -> np.ndarray:
    return np.broadcast_to(parts.max(0), parts.shape)


def _own(parts: np.ndarray) -> np.ndarray:
    return parts


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that differs from the right one in what is given.

    Args:
        summed: what each device has of all devices' terms of what heads give, and of what hidden units give; their sum.
        turned: by how many positions queries and keys are rotated too far; `None`: they are not rotated.
        written: by how many places a key and its value are written too late; what is beyond the last place is lost.
        filled: how many places count as filled before the first step.
        choose: of each device's best logits and their tokens, both `[device, sequence]`, the next tokens likewise.
    """

    summed: tuple[Combine, Combine] = (_total, _total)
    turned: tuple[int | None, int | None] = (0, 0)
    written: int = 0
    filled: int = 1
    choose: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    def made(self, o: Observed) -> np.ndarray:
        """The tokens of each device, `[device, sequence, step]`."""
        (first, E, *cut), n = o.inputs, devices(o)
        dimensions = (2, 2, 2, 1, 2, 2, 1, 1)
        Wq, Wk, Wv, *others, U = (_parts(W, n, at) for W, at in zip(cut, dimensions, strict=True))
        layers, kv_heads, width = Wk.shape[1], *Wk.shape[3:]
        cache = np.zeros((2, layers, n, len(first), STEPS, kv_heads, width))
        token, made = np.tile(first, (n, 1)), []
        for t in range(STEPS):
            x = E.astype(np.float64)[token]
            for layer in range(layers):
                x = self._layer(t, x, cache[:, layer], *(W[:, layer] for W in (Wq, Wk, Wv, *others)))
            token = self._chosen(np.einsum("nbD,nDv->nbv", norm(x), U))
            made.append(token)
        return np.stack(made, -1)

    def _layer(self, t: int, x: np.ndarray, cache: np.ndarray, *weights: np.ndarray) -> np.ndarray:
        Wq, Wk, Wv, Wo, Wg, Wu, Wd = weights
        h = norm(x)
        q, k, v = (np.einsum("nbD,nDhd->nbhd", h, W) for W in (Wq, Wk, Wv))
        q, k = (each if by is None else _rotated(each, t + by) for each, by in zip((q, k), self.turned))
        if t + self.written < STEPS:
            cache[:, :, :, t + self.written] = k, v
        K, V = cache[:, :, :, : t + self.filled]
        groups = q.reshape(*k.shape[:3], -1, q.shape[-1])
        scores = np.einsum("nbkgd,nbskd->nbkgs", groups, K) / np.sqrt(q.shape[-1])
        e = np.exp(scores - scores.max(-1, keepdims=True))
        a = np.einsum("nbkgs,nbskd->nbkgd", e / e.sum(-1, keepdims=True), V).reshape(q.shape)
        x = x + self.summed[0](np.einsum("nbhd,nhdD->nbD", a, Wo))
        h = norm(x)
        gate = np.einsum("nbD,nDf->nbf", h, Wg)
        hidden = gate / (1 + np.exp(-gate)) * np.einsum("nbD,nDf->nbf", h, Wu)
        return x + self.summed[1](np.einsum("nbf,nfD->nbD", hidden, Wd))

    def _chosen(self, logits: np.ndarray) -> np.ndarray:
        own = logits.argmax(-1) + logits.shape[-1] * np.arange(len(logits))[:, None]
        best = logits.max(-1)
        if self.choose is not None:
            return self.choose(best, own)
        return np.broadcast_to(np.take_along_axis(own, best.argmax(0)[None], 0), own.shape)


def served(*servers: Server) -> Callable[[Observed], bool]:
    """Whether every device has the tokens that one of these servers makes on it."""
    return lambda o: any(rings.each(o, computed(server.made, o)[0].__getitem__) for server in servers)


def _parts(array: np.ndarray, n: int, dimension: int) -> np.ndarray:
    return np.stack(np.split(array.astype(np.float64), n, dimension))


def _rotated(x: np.ndarray, position: int) -> np.ndarray:
    flat = x.reshape(-1, 1, *x.shape[2:])
    return rotate(flat, np.array([position])).reshape(x.shape)


NO_SUM = tuple(Server(summed=summed) for summed in ((_own, _total), (_total, _own), (_own, _own)))
OTHER_SUM = tuple(
    Server(summed=summed) for other in (_mean, _largest) for summed in ((other, _total), (_total, other), (other, other))
)
NOT_ROTATED = tuple(Server(turned=turned) for turned in ((None, None), (0, None), (None, 0)))
NOT_COMPARED = Server(choose=lambda best, own: own), Server(choose=lambda best, own: np.broadcast_to(own.max(0), own.shape))
ONE_OFF = (Server(turned=(0, 1)), Server(turned=(1, 0)), Server(filled=2), Server(written=1, filled=2))
