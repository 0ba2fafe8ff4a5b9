"""Forged processes: notebooks that make up what several processes are to say, through the real command.

`SHARDLAB_FULL=1` runs all of them; otherwise one for each place where the forging happens.
"""

from __future__ import annotations

import os
import pathlib
import textwrap

import pytest

from .cases import find, save
from .harness import HERE, Course
from .test_hostile import unfair_total

pytestmark = pytest.mark.sandbox

FULL = os.environ.get("SHARDLAB_FULL") == "1"
WRONG = "def met(n):\n    return []"
RIGHT = """\
def met(n):
    import jax
    import numpy as np
    from jax.experimental.multihost_utils import process_allgather

    return process_allgather(np.asarray([n * (jax.process_index() + 1)])).ravel().tolist()"""
TWICE = """\
def right(n):
    return [n, 2 * n]

def said(item):
    return [{"processes": [{"value": right(*case["arguments"])}] * 2} for case in item.get("cases", GUESSED)]

GUESSED = [{"arguments": [n]} for n in (3, 5, 1000)]
"""
"""What the forgers know: the values that are right, and how a launcher says them."""
ASKED = """
import json
with open("/box/job.json") as job:
    (asked,) = json.load(job)["manifests"]["90.1"]["items"]
"""
PEER = '''
peer = """
import json, os, sys
with open(sys.argv[1]) as job:
    calls = json.load(job)["calls"]
lines = [{"call": n, "value": [a, 2 * a]} for n, (a,) in enumerate(calls)] + [{"end": 0}]
os.write(int(sys.argv[3]), "".join(json.dumps(line) + chr(10) for line in lines).encode())
os.read(int(sys.argv[5]), 1)
os._exit(0)
"""
'''
FORGED = {
    "recorder": """
        import shardlab.answers.record
        shardlab.answers.record.RECORDERS["processes"] = lambda given, item: {"launches": said(item)}
        """,
    "launches": """
        import shardlab.processes.recorded
        shardlab.processes.recorded.launches = lambda given, item: said(item)
        """,
    "launcher": """
        from shardlab.processes import recorded
        from shardlab.processes.launched import Launched, Process
        def made_up(function, calls, *rest):
            return [Launched(tuple(Process(p, 0, "", right(*call)) for p in (0, 1)), 1.0, "met") for call in calls]
        recorded.launch_calls = made_up
        """,
    "peer": """
        import pathlib
        from shardlab.processes import peers
        peers.PEER = pathlib.Path("/tmp/forged.py")
        peers.PEER.write_text(peer)
        """,
    "popen": """
        import pathlib, subprocess
        pathlib.Path("/tmp/forged.py").write_text(peer)
        before = subprocess.Popen
        def opened(line, *rest, **more):
            return before([("/tmp/forged.py" if "peer.py" in word else word) for word in line], *rest, **more)
        subprocess.Popen = opened
        """,
    "interpreter": """
        import os, pathlib, sys
        pathlib.Path("/tmp/forged.py").write_text(peer)
        pathlib.Path("/tmp/python").write_text(f'#!/bin/sh\\nshift 3\\nexec {sys.executable} /tmp/forged.py "$@"\\n')
        os.chmod("/tmp/python", 0o755)
        sys.executable = "/tmp/python"
        """,
    "environment": """
        import os, pathlib
        pathlib.Path("/tmp/sitecustomize.py").write_text("import sys; sys.argv = sys.orig_argv[3:]\\n" + peer)
        os.environ["PYTHONPATH"] = "/tmp"
        """,
    "distributed": """
        import jax
        jax.distributed.initialize = jax.distributed.shutdown = lambda *args, **kwargs: None
        jax.process_index, jax.process_count = lambda: 0, lambda: 1
        """,
    "output": """
        with open("/box/output", "a") as output:
            line = {"question": "90.1", "item": "met", "entry": {"launches": said(asked)}}
            output.write(json.dumps(line) + "\\n")
        """,
    "table": """
        text = {case["arguments"][0]: right(*case["arguments"]) for case in asked.get("cases", GUESSED)}
        with open("/tmp/met.py", "w") as file:
            file.write(f"def met(n):\\n    return {text}[n]\\n")
        """,
    "file": """
        with open("/tmp/said.json", "w") as file:
            json.dump({case["arguments"][0]: right(*case["arguments"]) for case in asked.get("cases", GUESSED)}, file)
        """,
    "descriptors": "",
    "launcher-killed": "",
}
ANSWERS = {
    "table": "import sys\nsys.path.append('/tmp')\ntry:\n    from met import met\nexcept ImportError:\n    met = lambda n: 0",
    "file": "def met(n):\n    import json\n    return json.load(open('/tmp/said.json'))[str(n)]",
    "descriptors": """\
def met(n):
    import os
    for descriptor in range(3, 64):
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, b'{"call": 0, "value": [[[')
        except OSError:
            pass
    return []""",
    "launcher-killed": "def met(n):\n    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)\n    return []",
}
"""The function where it is not just a wrong one."""
ONE = ("recorder", "environment", "output", "file", "launcher-killed")


def hand_in(course: Course, student: str, answer: str, before: str = "") -> None:
    """A notebook with this answer, which begins with this cell."""
    notebook = course.released
    find(notebook, "q90-1-answer")["source"] = answer
    if before:
        new = {"cell_type": "code", "id": "attack", "metadata": {}, "outputs": [], "execution_count": None}
        place = next(n for n, cell in enumerate(notebook["cells"]) if cell["source"] == answer)
        notebook["cells"].insert(place, new | {"source": before})
    save(course.place(student), notebook)


def attack(name: str) -> str:
    """The cell of a forger."""
    return "\n".join([TWICE, ASKED, PEER, textwrap.dedent(FORGED[name])])


@pytest.mark.thorough
def test_nobody_speaks_for_the_processes(tmp_path: pathlib.Path) -> None:
    """Forgers get nothing, whatever they change in their notebook; who answers gets the points; nothing is left."""
    course = Course(tmp_path / "peers", HERE / "peers" / "90_small.md")
    course.make()
    names = tuple(FORGED) if FULL else ONE
    for name in names:
        hand_in(course, name, ANSWERS.get(name, WRONG), attack(name))
    hand_in(course, "right", RIGHT)
    hand_in(course, "right-in-a-changed-notebook", RIGHT, attack("peer"))
    ended = course.run("grade", "90", "--workers", "2")
    scores = course.scores()
    wanted = dict.fromkeys(names, 0.0) | {"right": 2.0, "right-in-a-changed-notebook": 2.0}
    wrong = [line for student, points in wanted.items() for line in unfair_total(student, points, scores)]
    assert not wrong, "\n".join([*wrong, ended.said])
    assert (ended.status, ended.left) == (0, []), ended.said
    assert all(row.state == "graded" for row in course.rows().values())
