"""Changing the checker, the kernel, the parser or the array type from inside. A changed witness changes nothing."""

from __future__ import annotations

from .cases import cells

PASSED = '{"verdict": {"question": "90.1", "status": "passed", "parts": [], "findings": [], "reason": ""}}'

CASES = (
    cells("recorder", """
        import shardlab.answers.record
        shardlab.answers.record.record = lambda manifest, *rest: {"items": {i["name"]: {"points": 100} for i in manifest["items"]}}
        """),
    cells("recorder-in-use", """
        import gc, sys
        for one in gc.get_objects():
            if type(one).__name__ == "Runner":
                one._recorder = lambda manifest, *rest: {"items": {i["name"]: {"value": True} for i in manifest["items"]}}
        """),
    cells("runner-says-passed", f"""
        import gc
        for one in gc.get_objects():
            if type(one).__name__ == "Runner":
                output = one._output
                type(one)._say = lambda self, line: (output.write('{PASSED}\\n'), output.flush())
        """),
    cells("forged-lines", f"""
        with open("/box/output", "a") as output:
            output.write('{PASSED}\\n' * 4 + '{{"end": true}}\\n')
        """, right="90.2"),
    cells("forged-end", """
        import os
        with open("/box/output", "w") as output:
            for question in ("90.1", "90.2", "90.3", "90.4"):
                output.write('{"question": "%s", "item": "a", "entry": {"value": 8.5}}\\n' % question)
            output.write('{"end": true}\\n')
        os._exit(0)
        """),
    cells("emptied-output", "import os; os.truncate('/box/output', 0); os._exit(0)", reason="left nothing to read"),
    cells("imitated-crash", """
        import os
        os.truncate("/box/output", 0)
        os.write(2, b"ImportError: the grader is broken")
        os._exit(1)
        """, reason="left nothing to read"),
    cells("rewriting-thread", """
        import threading
        def rewrite():
            while True:
                with open("/box/output", "r+b") as output:
                    output.write(b'{"verdict": {"status": "passed"}}')
        threading.Thread(target=rewrite, daemon=True).start()
        """),
    cells("checker", """
        import shardlab as sl
        sl.check = sl.predict = lambda *args, **kwargs: print(100.0)
        """),
    cells("json", """
        import json
        json.dumps = lambda *args, **kwargs: '{"points": 8.5}'
        """),
    cells("comparison", """
        import builtins, math
        import numpy as np
        np.allclose = np.isclose = np.array_equal = math.isclose = lambda *args, **kwargs: True
        builtins.all = lambda parts: True
        """),
    cells("equal-to-all", """
        class Same(int):
            __eq__ = lambda self, other: True
            __hash__ = int.__hash__
        def double(n): return Same(7)
        parts = {"A": Same(7)}
        """, at="q90-1"),
    cells("mapping-that-agrees", """
        class Yes(dict):
            def __getitem__(self, key): return type("Any", (float,), {"__eq__": lambda self, other: True})(1)
        parts = Yes(A=1)
        """, at="q90-2"),
    cells("syntax-trees", """
        import ast
        class Right(ast.NodeTransformer):
            def visit_Constant(self, node): return ast.Constant(2) if node.value == 3 else node
        get_ipython().ast_transformers.append(Right())
        """, right="90.1"),
    cells("input-lines", """
        def passing(lines): return ["print(8.5)\\n"] if any("check" in line for line in lines) else lines
        get_ipython().input_transformers_cleanup.append(passing)
        """),
    cells("tracebacks", """
        get_ipython().showtraceback = lambda *args, **kwargs: None
        get_ipython().set_custom_exc((BaseException,), lambda *args, **kwargs: None)
        raise ValueError("nobody sees this")
        """),
    cells("kernel", """
        shell = type(get_ipython())
        shell.run_cell = lambda *args, **kwargs: type("Ran", (), {"error_before_exec": None, "error_in_exec": None})()
        """),
    cells("printed-score", "print(8.5)\ndisplay(8.5)\n8.5"),
    cells("alarm", "import signal; signal.signal = signal.setitimer = lambda *args: None", right="90.1 90.3"),
    cells("array-type", """
        import jax, numpy as np
        jax.Array.__eq__ = jax.Array.__ne__ = lambda self, other: True
        jax.export.export = lambda *args, **kwargs: lambda *specs: type("E", (), {"mlir_module_serialized": b"ML" * 99})()
        """, reason="90.3"),
    cells("placement-of-all", """
        import shardlab.answers.record
        shardlab.answers.record.placement_of = lambda *args: type("P", (), {"to_json": lambda self: {"shape": [], "same_as": True}})()
        """),
    cells("memory", "import ctypes; ctypes.memset(id(1), 255, 4096)"),
    cells("modules", """
        import sys
        for name in [name for name in sys.modules if name.startswith(("shardlab", "json"))]: del sys.modules[name]
        """, right="90.3"),
    cells("import-hook", """
        import sys
        class Finder:
            def find_spec(self, *args): raise ImportError("nothing is found any more")
        sys.meta_path.insert(0, Finder())
        """),
    cells("builtins", "import builtins; builtins.isinstance = lambda *args: True; builtins.len = lambda x: 1"),
)  # fmt: skip
