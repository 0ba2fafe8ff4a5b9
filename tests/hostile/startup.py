"""Poisoned caches, import paths and startup files: for the grader, for nbgrader, or for the next submission."""

from __future__ import annotations

import pathlib

from .cases import cells, folder

FATAL = "import os, sys\nsys.stderr.write('POISONED')\nos._exit(3)\n"
WRITES = f"""
    import pathlib, site, sys
    for place in {{places}}:
        for name in {{names}}:
            try:
                path = pathlib.Path(place, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text({FATAL!r})
            except OSError: pass
    """


def put(*names: str, text: str = FATAL) -> object:
    """Writes these files beside the notebook."""

    def write(place: pathlib.Path) -> None:
        for name in names:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)

    return write


CASES = (
    cells("sitecustomize", WRITES.format(places="[*sys.path, '/tmp', '/student', '/grader']", names=["sitecustomize.py", "x.pth"])),
    cells("home", WRITES.format(places="[pathlib.Path.home(), '/root', '/home']", names=[
        ".ipython/profile_default/startup/0.py", ".local/lib/python3.11/site-packages/usercustomize.py", ".pythonrc", ".bashrc",
        ".jupyter/nbgrader_config.py", ".config/matplotlib/matplotlibrc"]), right="90.3"),
    cells("shadowed-modules", WRITES.format(places="['/tmp', '.']", names=["shardlab.py", "jax.py", "json.py", "numpy.py"]) + """
    sys.path.insert(0, "/tmp")
    """),
    cells("compile-cache", """
        import os, pathlib
        for path in pathlib.Path("/compiled").glob("*"):
            try: path.write_bytes(b"poison")
            except OSError: pass
        jax.config.update("jax_compilation_cache_dir", "/tmp/mine")
        """, right="90.3"),
    cells("compile-cache-linked", """
        import os
        for name in ("/compiled", "/student", "/grader/runner.py"):
            try: os.rename(name, name + "-old")
            except OSError: pass
            try: os.symlink("/tmp", name)
            except OSError: pass
        """, right="90.1"),
    cells("flags", """
        import os
        os.environ.update(XLA_FLAGS="--xla_dump_to=/compiled", JAX_PLATFORMS="tpu", PYTHONPATH="/tmp", LD_PRELOAD="/tmp/x.so",
                          SHARDLAB_RECORD="0", BASH_ENV="/tmp/x", PYTHONSTARTUP="/tmp/x")
        """, right="90.1"),
    cells("one-device", "jax.config.update('jax_num_cpu_devices', 1)"),
    cells("bytecode", """
        import glob, os
        for path in glob.glob("/student/**/*.pyc", recursive=True) + glob.glob("/usr/lib/python3*/__pycache__/*.pyc"):
            try: os.utime(path); open(path, "ab").write(b"poison")
            except OSError: pass
        """, right="90.4"),
    folder("modules-beside", put("shardlab.py", "jax.py", "json.py", "nbformat.py", "sitecustomize.py", "usercustomize.py")),
    folder("configuration-beside", put("nbgrader_config.py", "jupyter_nbconvert_config.py", "jupyter_config.py")),
    folder("templates-beside", put("feedback/index.html.j2", "templates/feedback/index.html.j2", "feedback.tpl")),
    folder("checkpoints", put(".ipynb_checkpoints/90_small-checkpoint.ipynb", "__pycache__/shardlab.cpython-311.pyc")),
    folder("other-notebooks", put("another.ipynb", "91_small.ipynb", text='{"cells": 7}')),
)  # fmt: skip
