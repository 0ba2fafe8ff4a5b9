"""Bytes on one device, as a compiler planned them. No JAX here."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes on one device, as the compiler planned them.

    On CPU `argument`, `output` and `alias` mean what they say; `temp` follows the CPU's own scheduling and says nothing
    about an accelerator, and `peak` leaves temporaries out. Compile for a TPU to learn those.

    Args:
        argument: bytes of the arguments that the program uses.
        output: bytes of what it returns.
        temp: bytes of everything between.
        alias: bytes of outputs that take the place of donated arguments.
        peak: the largest sum alive at one time; on a TPU that in all memories of the chip, see `main`.
        host: bytes of the program's arrays that stay in the host's memory; not part of the others.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> lens.inspect(lambda x: x + 1, x).memory.argument
        16
    """

    argument: int
    output: int
    temp: int
    alias: int
    peak: int
    host: int = 0

    @property
    def together(self) -> int:
        """Bytes of arguments, outputs and temporaries: the main memory never holds more."""
        return self.argument + self.output + self.temp - self.alias

    @property
    def main(self) -> int:
        """Bytes of the device's main memory that it takes at most.

        A TPU's peak adds up what is alive in every memory of the chip, its vector memory too, and may exceed `together`.
        A peak below the temporaries does not count them, and `together` stands for it.

        Example:
            >>> Memory(argument=8, output=8, temp=0, alias=0, peak=24).main
            16
        """
        return min(self.peak, self.together) if self.peak >= self.temp else self.together
