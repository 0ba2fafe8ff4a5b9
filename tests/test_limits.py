"""A check ends: by a limit on processor time, in the process that compiles, and by Ctrl-C, which says one line."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from IPython.core.interactiveshell import InteractiveShell

import shardlab as sl
from sample_questions import PROGRAM, product
from shardlab.answers.record import record
from shardlab_course import chapters as questions
from shardlab_course.checking import elsewhere, exercise, limits, local
from shardlab_course.checking.limits import Stopped, TimeUp, limited, watched
from shardlab_judge.references import build


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A course of one question, and little time."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(questions, "QUESTIONS", {"0.1": PROGRAM})
    references = build([PROGRAM], {"0.1": record(PROGRAM.manifest(), {"product": product}, {})})
    monkeypatch.setattr(local, "reference_of", lambda id: references)


def spins(mesh: Any, a: Any, b: Any) -> Any:
    count = 0
    while True:
        count += 1


def swallows(mesh: Any, a: Any, b: Any) -> Any:
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


def keeps(mesh: Any, a: Any, b: Any) -> Any:
    """A bare `except:` in a loop keeps what ends it."""
    while True:
        try:
            time.sleep(0.01)
            sum(jnp.ones(3))
        except:  # noqa: E722
            print(end="")


def keeps_twice(mesh: Any, a: Any, b: Any) -> Any:
    """One within another, with something to tidy up."""
    while True:
        try:
            while True:
                try:
                    sorted(range(100), key=lambda n: -n)
                except BaseException:
                    continue
                finally:
                    sum(range(10))
        except:  # noqa: E722
            pass


def few(seconds: float) -> Callable[[], Any]:
    return lambda: limited(seconds)


@pytest.mark.parametrize("program", [spins, swallows])
def test_an_answer_without_end(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped in its own line, is told why, and the next check is not affected."""
    monkeypatch.setattr(exercise, "limited", few(0.3))
    feedback = sl.check("0.1", program)
    (finding,) = feedback.verdict.findings
    assert not feedback.passed and finding.what == "Your answer was stopped after 20 seconds of computing."
    assert f", in {program.__name__}" in finding.line and finding.cause.startswith("A loop has no end")
    assert "nothing was judged" in repr(feedback)


@pytest.mark.parametrize("program", [keeps, keeps_twice])
def test_an_answer_that_keeps_its_end(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second try gets through, the sentence names the `except:`, and the next check is not affected."""
    monkeypatch.setattr(exercise, "limited", few(0.3))
    (finding,) = sl.check("0.1", program).verdict.findings
    assert finding.what == "Your answer was stopped after 20 seconds of computing."
    assert finding.cause.startswith("An `except:` without a type")
    assert finding.line.count(f", in {program.__name__}") == 1
    monkeypatch.undo()
    assert jax.jit(lambda x: x + 1)(jnp.ones(3)).sum() == 6.0


def test_the_limit_is_of_processor_time() -> None:
    """A sleep costs none; by the clock it may take several times as long, and is then ended too."""
    with limited(0.2):
        time.sleep(0.4)
    begun = time.monotonic()
    with pytest.raises(TimeUp), limited(0.1):
        time.sleep(60)
    assert 0.1 * limits.PATIENCE <= time.monotonic() - begun < 30


def test_what_ends_in_time_is_left_alone() -> None:
    """The handler of before is back, and nothing comes late."""
    before = signal.getsignal(signal.SIGINT)
    for _ in range(5):
        with limited(0.05):
            pass
    time.sleep(0.2)
    assert signal.getsignal(signal.SIGINT) is before
    assert not [thread for thread in threading.enumerate() if thread.name == "shardlab-limit" and thread.is_alive()]


def test_another_thread_has_no_limit() -> None:
    """Signals reach the main thread alone."""
    done: list[int] = []

    def work() -> None:
        with limited(0.01):
            done.append(sum(range(10**6)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done


def interrupts(mesh: Any, a: Any, b: Any) -> Any:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_says_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is judged or noted, and the shell goes on."""
    with pytest.raises(Stopped, match="0.1: you stopped the check, and nothing was judged"):
        sl.check("0.1", interrupts)
    shell = InteractiveShell()
    shell.colors = "nocolor"
    shell.user_ns.update(sl=sl, interrupts=interrupts)
    capsys.readouterr()
    assert not shell.run_cell("sl.check('0.1', interrupts)").success
    said = "".join(capsys.readouterr()).strip().splitlines()
    assert said == ["0.1: you stopped the check, and nothing was judged. Your variables are all there."]
    assert shell.run_cell("1 + 1").result == 2 and sl.check("0.1", product).passed


def endless(mesh: Any, a: Any, b: Any) -> Any:
    return jax.lax.while_loop(lambda c: c.sum() < jnp.inf, lambda c: c * 0.5, a @ b)


def many_rounds(mesh: Any, a: Any, b: Any) -> Any:
    return jax.lax.fori_loop(0, 10**9, lambda i, c: c * 0.5, a @ b)


def apart(mesh: Any, body: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """The body on each device of the whole arrays, with the device's number first."""

    def own(a: Any, b: Any) -> Any:
        return body(jax.lax.axis_index(mesh.axis_names), a @ b)

    return jax.shard_map(own, mesh=mesh, in_specs=(jax.P(), jax.P()), out_specs=jax.P(), check_vma=False)(a, b)


def sums_in_a_branch(mesh: Any, a: Any, b: Any) -> Any:
    def body(me: Any, c: Any) -> Any:
        return jax.lax.cond(me % 2 == 0, lambda c: jax.lax.psum(c, mesh.axis_names), lambda c: c, c)

    return apart(mesh, body, a, b)


def sums_in_some_rounds(mesh: Any, a: Any, b: Any) -> Any:
    def body(me: Any, c: Any) -> Any:
        def more(at: Any) -> Any:
            return at[0] < me % 3

        return jax.lax.while_loop(more, lambda at: (at[0] + 1, jax.lax.psum(at[1], mesh.axis_names)), (0, c))[1]

    return apart(mesh, body, a, b)


def chooses_in_a_branch(mesh: Any, a: Any, b: Any) -> Any:
    """Nothing is communicated in it."""

    def body(me: Any, c: Any) -> Any:
        return jax.lax.psum(jax.lax.cond(me % 2 == 0, lambda c: c * 2, lambda c: c.sum() + c, c), mesh.axis_names)

    return apart(mesh, body, a, b)


DEADLOCKS = [sums_in_a_branch, sums_in_some_rounds]


@pytest.mark.parametrize("program", [endless, many_rounds, *DEADLOCKS])
def test_a_compiled_loop_runs_elsewhere(program: Callable[..., Any]) -> None:
    """Nothing can stop it here, so it is not run here."""
    recorded = record(PROGRAM.manifest(), {"product": program}, {})
    with pytest.raises(local.Unsafe):
        local.judge_here("0.1", recorded, unsafe=False)


def sums_in_a_branch_of_a_step(mesh: Any, *arrays: Any) -> Any:
    """Old weights, and devices that wait."""
    total = sums_in_a_branch(mesh, arrays[0][:1, :1], arrays[1][:1, :1]).sum()
    return arrays[2] + total, arrays[3]


def test_a_free_design_runs_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program is judged as all others are, in the layout that the student gave."""
    monkeypatch.undo()
    asked = questions.question("15.6")
    given = {"layout": dict.fromkeys(("X", "Y", "W1", "W2"), jax.P()), "step": sums_in_a_branch_of_a_step}
    recorded = record(asked.manifest(), dict.fromkeys(asked.variables, given), {})
    with pytest.raises(local.Unsafe):
        local.judge_here("15.6", recorded, unsafe=False)


@pytest.mark.thorough
def test_a_compiled_loop_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that runs it is ended, and the next question gets another one."""
    monkeypatch.undo()
    monkeypatch.setenv(elsewhere.VARIABLE, "2")
    asked = questions.question("4.2")
    recorded = record(asked.manifest(), dict.fromkeys(asked.variables, endless), {})
    with pytest.raises(TimeUp):
        elsewhere.judge_elsewhere("4.2", recorded)
    verdict = elsewhere.judge_elsewhere("4.2", record(asked.manifest(), dict.fromkeys(asked.variables, product), {}))
    assert verdict.status == "failed"
    elsewhere.end_child()


def test_a_branch_without_collectives_runs_here() -> None:
    """All devices come to what stands behind it."""
    recorded = record(PROGRAM.manifest(), {"product": chooses_in_a_branch}, {})
    assert local.judge_here("0.1", recorded, unsafe=False).status == "failed"


@pytest.mark.thorough
@pytest.mark.parametrize("program", DEADLOCKS)
def test_devices_that_wait_for_others(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA ends the process that runs it, which is not this one, and the verdict says which rule is broken."""
    monkeypatch.undo()
    monkeypatch.setattr(elsewhere, "_LIMITS", elsewhere._LIMITS.replace(f"={elsewhere.WAIT}", "=2"))
    try:
        feedback = sl.check("4.2", case_1=program)
        (finding,) = feedback.verdict.findings
        said = "Some devices wait in the all-reduce that the others never enter, so your program was stopped."
        assert not feedback.passed and finding.what == said
        assert finding.cause.startswith("All devices of an axis take part in its collectives.")
        assert sl.check("4.2", case_1=product).verdict.findings[0].what != finding.what
    finally:
        elsewhere.end_child()


def test_a_watch_acts_and_goes_on() -> None:
    """It acts when its clock has run, and not before."""
    now, acted = [0.0], threading.Event()
    with watched(5.0, lambda: now[0], acted.set):
        assert not acted.wait(0.3)
        now[0] = 6.0
        assert acted.wait(5)
