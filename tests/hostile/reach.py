"""Going for the score, hidden inputs, references, the gradebook, other students and the parent process.

Each raises what it found, so that it would stand in the feedback; the test looks for the secrets there.
"""

from __future__ import annotations

from .cases import cells

FIND = """
    import os, pathlib
    found = []
    for place in {places}:
        for top, folders, names in os.walk(place):
            for name in names:
                try: found.append(pathlib.Path(top, name).read_bytes()[-3000:])
                except OSError: pass
            if len(found) > 3000: break
    raise RuntimeError(b" ".join(one for one in found if any(w in one for w in {words})))
    """
WORDS = [b"honest-work-", b"host-secret-", b"key-that-only"]

CASES = (
    cells("environment", """
        import os
        raise RuntimeError(str(dict(os.environ)) + open("/proc/1/environ").read() + open("/proc/self/environ").read())
        """),
    cells("files", FIND.format(places=["/home", "/root", "/work", "/var", "/mnt", "/tmp", "/box"], words=WORDS)),
    cells("packages", FIND.format(places=["/student", "/grader", "/compiled"], words=WORDS)),
    cells("processes", """
        import glob
        text = b""
        for path in glob.glob("/proc/*/cmdline") + glob.glob("/proc/*/environ") + glob.glob("/proc/*/root/box/*"):
            try: text += open(path, "rb").read()[-5000:]
            except OSError: pass
        raise RuntimeError(text)
        """),
    cells("descriptors", """
        import glob, os
        written = []
        for path in glob.glob("/proc/[0-9]*/fd/*"):
            try: written.append(os.open(path, os.O_WRONLY)); os.write(written[-1], b'{"points": 8.5}\\n0 0\\nready 0')
            except OSError: pass
        """),
    cells("gradebook", """
        import glob, sqlite3
        for path in glob.glob("/**/gradebook.db", recursive=True) + ["/proc/1/root/work/gradebook.db"]:
            sqlite3.connect(path).execute("update grade set manual_score = 100")
        """),
    cells("questions", "import shardlab_course.chapters as q; raise RuntimeError(str(q.QUESTIONS))"),
    cells("references", "import shardlab_judge.references as r; raise RuntimeError(str(r.References.load()))"),
    cells("grader", "import shardlab_grader.records.store, shardlab_grader.classes.classroom; raise RuntimeError(shardlab_grader.__path__)"),
    cells("boxes-of-others", """
        import ctypes, os
        ctypes.CDLL(None).umount2(b"/tmp", 2)
        raise RuntimeError([os.listdir(p) for p in ("/tmp", "/box", "/proc/1/root/tmp", "/proc/self/cwd/..") if os.path.exists(p)])
        """),
    cells("parent-traced", """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in (1, 2, os.getppid()):
            libc.ptrace(16, pid, None, None)
            libc.process_vm_readv(pid, None, 0, None, 0, 0)
        """),
    cells("parent-killed", "import os, signal; [os.kill(n, signal.SIGKILL) for n in (1, os.getppid())]", right="90.1 90.2 90.3 90.4"),
    cells("all-killed", "import os; os.kill(-1, 9)"),
    cells("group-killed", "import os; os.kill(0, 9)"),
    cells("parent-stopped", "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); os.kill(1, signal.SIGTERM)", right="all"),
    cells("namespaces", """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000): assert libc.unshare(flag) != 0
        for kind in ("mnt", "pid", "net", "user"):
            assert libc.setns(os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0) != 0
        """),
    cells("written-outside", """
        import pathlib, sys
        for path in ("/x", "/usr/x", "/grader/runner.py", "/student/x", "/compiled/x", "/box/x", "/box/job.json", f"{sys.prefix}/x",
                     "/etc/x", "/proc/1/comm", "/dev/x", "/proc/sys/kernel/core_pattern"):
            try: pathlib.Path(path).write_text("x" * 99); print("wrote", path)
            except OSError: pass
        """),
    cells("output-replaced", """
        import os
        for link in ("/etc/passwd", "/box/job.json", "/dev/zero"):
            try: os.symlink(link, "/tmp/link"); os.replace("/tmp/link", "/box/output")
            except OSError: pass
        os.chmod("/box/output", 0)
        """, right="90.3"),
    cells("keyrings", """
        import ctypes
        assert ctypes.CDLL(None).syscall(248, b"user", b"mark", b"left", 4, -4) == -1
        """),
    cells("devices", """
        import os
        for name in ("mem", "kmem", "kmsg", "vda", "sda", "fuse", "kvm", "tty", "ptmx"):
            try: os.open(f"/dev/{name}", os.O_RDWR)
            except OSError: pass
        os.mknod("/tmp/mem", 0o600 | 0o020000, os.makedev(1, 1))
        """),
    cells("setuid", """
        import os, shutil, subprocess
        shutil.copy("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "/bin/sh", "/tmp/root")
        os.chmod("/tmp/root", 0o6755)
        subprocess.run("su -c id; sudo -n id; newgrp root; mount -t tmpfs x /mnt", shell=True, stdin=subprocess.DEVNULL)
        os.setuid(0)
        """),
)  # fmt: skip
