"""Using up what there is: time, memory, processes, descriptors, disk, output, stacks. The neighbours must not feel it."""

from __future__ import annotations

from .cases import MARK, cells

HOG = f"""
    import os, time
    for _ in range({{count}}):
        if os.fork() == 0:
            {{work}}
            time.sleep({MARK})
            os._exit(0)
    time.sleep(30)
    """

CASES = (
    cells("one-allocation", "x = bytearray(2**45)", right="90.1"),
    cells("memory", "x = []\nwhile True: x.append(bytearray(2**26))", right="90.3"),
    cells("memory-in-many", HOG.format(count=40, work="x = bytearray(300 * 2**20)"), reason="memory"),
    cells("memory-out-of-sight", """
        import ctypes, os
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        for _ in range(200):
            id = libc.shmget(0, 2**26, 0o1600)
            if id < 0: break
            at = libc.shmat(id, None, 0)
            if at in (None, 2**64 - 1): break
            ctypes.memset(at, 1, 2**26)
            libc.shmdt(ctypes.c_void_p(at))
        for _ in range(1000):
            libc.semget(0, 32000, 0o1600)
            queue = libc.msgget(0, 0o1600)
            for _ in range(15): libc.msgsnd(queue, ctypes.create_string_buffer(b"\\1" * 1024), 1000, 0o4000)
        for _ in range(200):
            with open(os.dup(os.memfd_create("x")), "wb") as file:
                for _ in range(15): file.write(bytes(2**20))
        """),
    cells("memory-in-sockets", HOG.format(count=60, work="""import socket
            kept = [one for _ in range(120) for one in socket.socketpair()]
            for one in kept:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
                one.setblocking(False)
                try:
                    while True: one.send(bytes(2**16))
                except BlockingIOError: pass"""), reason="memory"),
    cells("fork-bomb", f"""
        import os, subprocess
        while True: subprocess.Popen(["sleep", "{MARK}"])
        """, right="90.1"),
    cells("threads", """
        import threading, time
        while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        """),
    cells("descriptors", "import os\nwhile True: os.open('/dev/null', 0)"),
    cells("scratch", """
        for place in ("/tmp", "/dev/shm"):
            try:
                for n in range(1000): open(f"{place}/{n}", "wb").write(bytes(2**20))
            except OSError: pass
        """, right="90.1 90.4"),
    cells("empty-files", """
        import os
        for n in range(400_000): os.close(os.open(f"/tmp/{n}", os.O_CREAT))
        """, right="90.1"),
    cells("output-file", "open('/box/output', 'ab').write(bytes(2**24))"),
    cells("deep-json", "open('/box/output', 'a').write('[' * 2**20 + '\\n')"),
    cells("printing", "for _ in range(2000): print('x' * 100_000)", right="all"),
    cells("flood-of-errors", "import os\nwhile True: os.write(2, b'x' * 100_000)", reason="printed"),
    cells("recursion", "def f(): f()\nf()", right="90.1 90.2 90.3 90.4"),
    cells("stack", "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f([x])\nf(1)"),
    cells("crash", "import ctypes; ctypes.string_at(0)", reason="SIGSEGV"),
    cells("abort", "import os; os.abort()", reason="SIGABRT"),
    cells("closed-descriptors", "import os; os.closerange(0, 1000)"),
    cells("limits", "import resource; [resource.setrlimit(n, (0, 0)) for n in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)]"),
    cells("huge-message", "raise ValueError('x' * 10**8)", right="90.1"),
    cells("message-that-lies", "class E(Exception):\n    __str__ = lambda self: exec('while True: pass')\nraise E", slow=True),
    cells("huge-value", "parts = {'A': list(range(10**6))}\ndef double(n): return [n] * 10**6", at="q90-1"),
    cells("deep-value", "x = []\nfor _ in range(10**4): x = [x]\nparts = {'A': x}", right="90.1", at="q90-2"),
    cells("huge-number", "def double(n): return 10**5000", at="q90-1"),
    cells("many-threads-of-arrays", "x = [jnp.ones(2**20) for _ in range(5000)]", right="90.1"),
    cells("loop", "while True: pass", right="90.1 90.3", slow=True),
    cells("loop-that-catches", """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """, slow=True, reason="did not end"),
    cells("sleep", "import time; time.sleep(1000)", right="all", slow=True),
    cells("endless-answer", "def double(n):\n    while True: pass", right="90.3", at="q90-1", slow=True, reason="could not be read"),
    cells("endless-compiled", "jax.lax.while_loop(lambda x: x > 0, lambda x: x + 0, 1)", slow=True),
    cells("regular-expression", "import re; re.match('(a*)*b', 'a' * 60)", slow=True),
    cells("all-cores", HOG.format(count=60, work="while True: pass"), slow=True, right="90.1 90.2 90.3 90.4"),
    cells("raising-cells", "for _ in range(3): raise ValueError", right="all"),
)  # fmt: skip
