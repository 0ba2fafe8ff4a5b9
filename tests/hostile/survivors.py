"""Processes and threads that should outlive the submission. All sleep for a number of seconds that the test looks for."""

from __future__ import annotations

from .cases import MARK, cells

CASES = (
    cells("daemon", f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "{MARK}"])
            os._exit(0)
        """, right="all"),
    cells("shell", f"!(setsid nohup sleep {MARK} > /dev/null 2>&1 &)", right="90.1"),
    cells("holds-the-pipes", f"""
        import os, subprocess
        subprocess.Popen(["sleep", "{MARK}"], stdout=2, stderr=2, start_new_session=True)
        """, right="90.3"),
    cells("ignores-signals", f"""
        import os, signal
        if os.fork() == 0:
            for number in range(1, 65):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            os.execvp("sleep", ["sleep", "{MARK}"])
        """, right="90.2"),
    cells("forks-on", f"""
        import os, subprocess, sys
        code = "import os, time\\nwhile True:\\n  if os.fork(): os._exit(0)\\n  os.setsid(); time.sleep(0.01)  # {MARK}"
        subprocess.Popen([sys.executable, "-c", code])
        """, right="90.4"),
    cells("dies-first", f"""
        import os, subprocess
        subprocess.Popen(["sleep", "{MARK}"], start_new_session=True)
        os._exit(0)
        """),
    cells("crashes-first", f"""
        import os, subprocess
        subprocess.Popen(["setsid", "sleep", "{MARK}"])
        os.kill(os.getpid(), 11)
        """),
    cells("exit-hooks", f"""
        import atexit, os, threading, time
        atexit.register(time.sleep, {MARK})
        threading.Thread(target=time.sleep, args=({MARK},)).start()
        """, right="all"),
    cells("many", f"import subprocess; [subprocess.Popen(['sleep', '{MARK}'], start_new_session=True) for _ in range(40)]", right="all"),
    cells("stops-itself", f"""
        import os, signal, subprocess
        subprocess.Popen(["sleep", "{MARK}"], start_new_session=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        """),
)  # fmt: skip
