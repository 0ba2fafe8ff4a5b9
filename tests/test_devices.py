"""Eight devices anywhere, and a message where it is too late for them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy
import pytest

import shardlab as sl
from shardlab import devices
from shardlab.devices import Devices

FRESH = {
    "plain": ({}, "sl.setup(8)"),
    "flag-of-the-same-number": ({"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}, "sl.setup(8)"),
    "started-with-enough": ({"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}, "jax.devices(); sl.setup(8)"),
    "another-backend-given-up": ({}, "jax.devices(); from shardlab.devices import _simulated; _simulated(8)"),
}

TOO_LATE = """\
[devices-too-late] JAX has already started with 1 CPU device; it cannot get 8 now.
  where: sl.setup(8)   an earlier cell or import used JAX: an array, jax.devices(), a compiled function
  mend:  restart the kernel and run sl.setup(8) before anything else uses JAX."""


def run(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    code = f"import jax, shardlab as sl\n{code}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**kept, "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("environment", "code"), FRESH.values(), ids=FRESH)
def test_a_fresh_process_gets_eight_simulated_devices(environment: dict[str, str], code: str) -> None:
    """Eight devices, whoever asked for them and however often."""
    out = run(f"{code}\nprint(jax.device_count(), sl.setup(8))", **environment)
    assert re.fullmatch(r"8 Python 3\.\d+\.\S+, JAX \d+\.\d+\.\S+: 8 simulated CPU devices", out)


@pytest.mark.thorough
def test_setup_after_jax_has_started_says_how_to_mend_it() -> None:
    """One CPU device cannot become eight while the kernel runs."""
    assert run("jax.devices()\ntry: sl.setup(8)\nexcept sl.ShardlabError as error: print(error)") == TOO_LATE


def test_asking_leaves_the_present_backend_alone() -> None:
    """A second call neither restarts JAX nor takes devices away."""
    before = jax.devices()
    assert sl.setup(4).count == len(before)
    assert jax.devices() == before


class Accelerators:
    """Stands in for `jax.devices()` of a TPU or GPU backend; `_simulated` is watched instead of run."""

    def __init__(self, count: int, platform: str, kind: str) -> None:
        self.platform, self.device_kind = platform, kind
        self.found = [self] * count

    def install(self, monkeypatch: pytest.MonkeyPatch, *, started: bool, arrays: int) -> None:
        """Put this backend in place of the present one."""
        monkeypatch.setattr("shardlab.devices._set_cpu_devices", lambda n: not started)
        monkeypatch.setattr("shardlab.devices._simulated", lambda n: SIMULATED[:n])
        monkeypatch.setattr(jax, "devices", lambda: self.found)
        monkeypatch.setattr(jax, "live_arrays", lambda: [None] * arrays)


SIMULATED = Accelerators(16, "cpu", "cpu").found

ACCELERATORS = {
    "colab-one-tpu-chip": (1, "tpu", "TPU v5 lite", False, 0, "8 simulated CPU devices"),
    "colab-chip-looked-at": (1, "tpu", "TPU v5 lite", True, 0, "8 simulated CPU devices"),
    "gpu-laptop": (1, "gpu", "NVIDIA RTX 4070", False, 0, "8 simulated CPU devices"),
    "kaggle-eight-chips": (8, "tpu", "TPU v5 lite", False, 0, "8 real TPU v5 lite devices"),
    "eight-chips-in-use": (8, "tpu", "TPU v5 lite", True, 3, "8 real TPU v5 lite devices"),
}


@pytest.mark.parametrize(("count", "platform", "kind", "started", "arrays", "said"), ACCELERATORS.values(), ids=ACCELERATORS)
def testaccelerators_are_used_only_when_there_are_enough(
    monkeypatch: pytest.MonkeyPatch, count: int, platform: str, kind: str, started: bool, arrays: int, said: str
) -> None:
    """One chip gives way to eight simulated devices; eight chips stay, and multiply as exactly as their type."""
    Accelerators(count, platform, kind).install(monkeypatch, started=started, arrays=arrays)
    before = jax.config.jax_default_matmul_precision
    try:
        assert str(sl.setup(8)).endswith(f": {said}")
        assert jax.config.jax_default_matmul_precision == ("float32" if "real TPU" in said else before)
    finally:
        jax.config.update("jax_default_matmul_precision", before)


def test_a_chip_that_holds_arrays_is_not_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays would be left behind without their backend."""
    Accelerators(1, "tpu", "TPU v5 lite").install(monkeypatch, started=True, arrays=1)
    with pytest.raises(sl.ShardlabError, match=r"\[devices-too-late\] JAX has already started with 1 TPU device;"):
        sl.setup(8)


def test_one_device_is_written_in_the_singular() -> None:
    """No "1 devices"."""
    found = Devices("3.12.1", "0.10.2", 1, "TPU v5 lite", simulated=False)
    assert repr(found) == "Python 3.12.1, JAX 0.10.2: 1 real TPU v5 lite device"


OLD_JAX = """\
[jax-too-old] JAX 0.7.2 is installed; the course needs 0.10 or newer.
  where: sl.setup(8)   Python 3
  mend:  run  %pip install -q "jax>=0.10"  in a cell, restart the kernel, and run the first cell again."""

OLDER_KERNEL = """\
[kernel-is-older] this kernel had imported jax 0.7.2, numpy 1.26.4 before jax 0.10.2, numpy 2.0.2 was installed.
  where: sl.setup(8)   what it has imported does not fit the files that it would import next
  mend:  restart the kernel (Colab: Runtime > Restart session; Kaggle: Run > Restart), then run the first cell again."""


def test_an_old_jax_is_named_before_it_is_imported(tmp_path: Path) -> None:
    """Colab's own JAX would fail somewhere inside; the message says which JAX there is and which to install."""
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("raise AttributeError('deep inside')")
    (tmp_path / "jax-0.7.2.dist-info").mkdir()
    (tmp_path / "jax-0.7.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: jax\nVersion: 0.7.2\n")
    code = "import shardlab as sl\ntry: sl.setup(8)\nexcept sl.ShardlabError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert re.sub(r"Python 3\S+", "Python 3", done.stdout.strip()) == OLD_JAX, done.stderr


def test_a_kernel_that_imported_other_versions_is_to_be_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every imported package whose version is not the installed one is named, and what to press."""
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    monkeypatch.setattr(jax, "__version__", "0.7.2")
    monkeypatch.setattr(numpy, "__version__", "1.26.4")
    monkeypatch.setattr(devices, "_installed", {"jax": "0.10.2", "numpy": "2.0.2", "jaxlib": "", "matplotlib": "3.10.0"}.get)
    with pytest.raises(sl.ShardlabError) as raised:
        sl.setup(8)
    assert str(raised.value) == OLDER_KERNEL


@pytest.mark.parametrize("version", ["0.10.2", "0.10.2.dev20260101+cafe", "0.10.2+local"])
def test_a_build_of_the_same_release_is_the_same(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nightly and local builds name themselves otherwise than their metadata."""
    monkeypatch.setattr(jax, "__version__", version)
    monkeypatch.setattr(devices, "_installed", {"jax": "0.10.2"}.get)
    assert sl.setup(8).count == 8


@pytest.mark.parametrize(
    ("nodes", "libtpu", "count"),
    [
        pytest.param({"/dev/accel[0-9]*": 8}, True, 8, id="v4-and-older"),
        pytest.param({"/dev/vfio/[0-9]*": 1}, True, 1, id="v5e"),
        pytest.param({"/dev/vfio/[0-9]*": 2}, False, 0, id="not-a-tpu"),
        pytest.param({}, True, 0, id="compiler-only"),
        pytest.param({"/dev/nvidia[0-9]*": 1}, False, 1, id="one-gpu"),
    ],
)
def testaccelerators_are_counted_without_a_start(nodes: dict[str, int], libtpu: bool, count: int, monkeypatch) -> None:
    """By the files that the system makes for them; without libtpu, a file of that name is something else."""
    monkeypatch.setattr("glob.glob", lambda pattern: [pattern] * nodes.get(pattern, 0))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if libtpu else None)
    assert devices.accelerators() == count


@pytest.mark.thorough
def test_too_few_chips_are_not_started() -> None:
    """JAX is told so before it looks for them: `tpu` would fail here, where there is none; and who asked, what is idle."""
    code = "from shardlab import devices\ndevices.accelerators = lambda: {}\nprint(sl.setup(8), jax.default_backend())"
    said = {n: run(code.format(n), JAX_PLATFORMS="tpu,cpu").partition(": ")[2] for n in (1, 4)}
    idle = "8 simulated CPU devices ({}to compute on real devices, restart and run sl.setup({})) cpu"
    one = "1 accelerator is here and idle; sl.on_chip(f, *args) measures on it; "
    assert said == {1: idle.format(one, 1), 4: idle.format("4 accelerators are here and idle; ", 4)}


@pytest.mark.thorough
def test_a_check_in_a_restarted_kernel_gets_its_devices() -> None:
    """Where the first cell was not run again, and nothing else has started JAX; else it says how many there are."""
    assert run("sl.check('1.1', {})\nprint(jax.device_count())") == "8"
    started = "jax.config.update('jax_num_cpu_devices', 4)\njax.devices()\n"
    code = started + "try:\n    sl.check('1.1', {})\nexcept sl.ShardlabError as e:\n    print(e.what)"
    assert run(code) == "JAX has 4 devices, and the checks need 8."


@pytest.mark.thorough
def test_a_backend_that_does_not_start_is_said() -> None:
    """Eight chips whose library does not fit, or that another program holds: simulated devices, and what JAX says of it."""
    code = "from shardlab import devices\ndevices.accelerators = lambda: 8\nprint(sl.setup(8))"
    assert re.search(r": 8 simulated CPU devices \(Unable to initialize backend 'tpu'.*\)$", run(code, JAX_PLATFORMS="tpu"))
    assert run(code).endswith(": 8 simulated CPU devices (JAX does not start the 8 accelerators that are here)")


@pytest.mark.parametrize("n", ["8", 0, -1, None, 2.5, True])
def test_what_is_no_number_of_devices(n: object) -> None:
    """Is refused before JAX is imported, with what to write."""
    with pytest.raises(sl.ShardlabError, match="no-number-of-devices"):
        devices.setup(n)  # type: ignore
