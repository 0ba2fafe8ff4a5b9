"""What JAX does once in a process, done before a server forks, so that each of its children finds it done.

No backend is started: its threads would not be there in a child. JAX has public names for hardly any of this. Where a
version of it lacks one, or does otherwise, that step is left out, and children are slower and never wrong.
"""

from __future__ import annotations

import contextlib


def warm_jax(*, public: bool) -> None:
    """Import what JAX imports late, look for its plugins, load LAPACK, and make the one MLIR context.

    Args:
        public: whether `jax.interpreters.mlir.make_ir_context` gives the one context too. Not in a process that reads what
            others sent: there `stablehlo.admit` makes its own, so that no program is read where another one was.
    Example:
        >>> import subprocess, sys
        >>> subprocess.run([sys.executable, "-c", "import shardlens; shardlens.warm_jax(public=True)"]).returncode
        0
    """
    for step in (_late_imports, _lapack, _plugins, lambda: _one_context(public)):
        with contextlib.suppress(Exception):
            step()


def _late_imports() -> None:
    """What the first export, and the first global array, would import."""
    import jax.experimental.multihost_utils  # noqa: F401
    import jaxlib.mlir.dialects.builtin  # noqa: F401


def _lapack() -> None:
    """LAPACK's functions come from SciPy, which JAX imports as it first lowers, for instance, a solve."""
    from jax._src.lax import linalg

    linalg.initialize_lapack()


def _plugins() -> None:
    """Plugins are looked for in all installed packages when a backend starts: in every child, and always the same ones."""
    from jax._src import xla_bridge

    xla_bridge.discover_pjrt_plugins()
    xla_bridge.discover_pjrt_plugins = lambda: None


def _one_context(public: bool) -> None:
    """JAX makes an MLIR context for each program that it lowers, and of a small one that is most of the cost."""
    import jax.interpreters.mlir
    from jax._src.interpreters import mlir

    one = mlir.make_ir_context()
    mlir.make_ir_context = lambda: one
    if public:
        jax.interpreters.mlir.make_ir_context = mlir.make_ir_context
