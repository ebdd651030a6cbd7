"""The communication benchmark: what share of their speed two ranks keep when they average gradients."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coursekit import ranks
from coursekit.environ import HIDE_GPUS, scrubbed
from coursekit.errors import CourseKitError
from workshop.bench.measurement import Measurement, Series
from workshop.bench.steps import FULL_SPEED, Case, Setting, compare_with_no_communication, to_text
from workshop.mpirun import run_by_mpirun

NUM_RANKS = 2
TIMEOUT_S = 300.0

# Looking for gradients every 10 ms, not every millisecond, leaves the core to the computation.
CYCLE = {"HOROVOD_CYCLE_TIME": "10"}
# Over shared memory, buffers of 2 MiB stay in the cache of a core.
SMALL_BUFFERS = {"HOROVOD_FUSION_THRESHOLD": str(2 * 1024**2)}
# One group: a single exchange of all gradients, and a single branch to trace.
ONE_GROUP = {"groups": 1}

SETTINGS = (
    Setting("Gloo, by default"),
    Setting("Gloo, tuned", environ=CYCLE, optimizer=ONE_GROUP, bound=True, traced_once=True),
    Setting("MPI, tuned", "mpirun", {**CYCLE, **SMALL_BUFFERS}, ONE_GROUP, bound=True, traced_once=True),
)


def measure_mobilenetv2(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure the laptop's network, 3.5 million parameters."""
    return measure_settings(Case("MobileNetV2", 96, 16, repeat, 8), SETTINGS, progress)


def measure_resnet50(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure a network of 25.6 million parameters."""
    return measure_settings(Case("ResNet50", 64, 16, repeat, 5), SETTINGS, progress)


def measure_settings(case: Case, settings: Sequence[Setting], progress: Callable[[str], None]) -> Measurement:
    """Run each setting on two fresh ranks, which make steps with and without communication in turns.

    A step counts with the mean of the ranks' seconds. Without `mpirun`, its setting is left out.

    Raises:
        CourseKitError: ranks of `mpirun` failed, or took longer than their limit.
    """
    series: list[Series] = []
    for setting in settings:
        if setting.launcher == "mpirun" and not has_mpi():
            progress(f"{setting.name}: left out, there is no mpirun or Horovod was built without MPI")
            continue
        progress(f"{case.network}, {setting.name}")
        if setting.launcher == "mpirun":
            everyone = through_mpirun(case, setting)
        else:
            everyone = on_two_ranks(compare_with_no_communication, case, setting, environ=setting.environ)
        timings = mean_over_ranks(everyone)
        full_speed_s = statistics.median(timings[FULL_SPEED][1:])
        names = [setting.name] if series else [FULL_SPEED, setting.name]
        series += [Series(name, timings[name][0], tuple(timings[name][1:]), full_speed_s) for name in names]
    title = f"a training step of {case.network} on {NUM_RANKS} ranks, {case.image_size} px, batch {case.batch_size}"
    return Measurement(title, tuple(series))


def mean_over_ranks(everyone: Sequence[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Return for each kind of step the seconds of every step, averaged over the ranks."""
    first = everyone[0]
    return {name: [statistics.mean(step) for step in zip(*(one[name] for one in everyone))] for name in first}


def on_two_ranks(function: Callable[..., Any], *args: Any, environ: dict[str, str]) -> list[dict[str, list[float]]]:
    """Call a function on two ranks without GPUs and return the timings of both.

    Raises:
        CourseKitError: a rank failed, or the time was not enough.
    """
    limits: dict[str, Any] = {"num_ranks": NUM_RANKS, "timeout_s": TIMEOUT_S, "use_gpus": False, "show_output": False}
    try:
        timings: list[dict[str, list[float]]] = ranks.run(function, *args, environ=environ, **limits)
    except ranks.RankError as error:
        raise CourseKitError(f"the benchmark's ranks failed, run `coursekit doctor`: {error}") from None
    return timings


def has_mpi() -> bool:
    """Return whether ranks can be started by `mpirun` and talk over MPI."""
    if shutil.which("mpirun") is None:
        return False
    probe = "import sys, horovod.tensorflow as hvd; sys.exit(not hvd.mpi_built())"
    quiet = subprocess.DEVNULL
    environ = {**scrubbed(), **HIDE_GPUS}
    return subprocess.run([sys.executable, "-c", probe], check=False, env=environ, stderr=quiet).returncode == 0


def through_mpirun(case: Case, setting: Setting) -> list[dict[str, list[float]]]:
    """Measure on ranks that Open MPI starts and binds, one after the other, to the cores.

    Raises:
        CourseKitError: they failed, or took longer than their limit.
    """
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as folder:
        file = Path(folder) / "timings.json"
        program = [sys.executable, "-m", "workshop.bench.steps", to_text(case, setting), str(file)]
        said = run_by_mpirun(
            program,
            NUM_RANKS,
            Path(folder),
            options=("--bind-to", "core" if setting.bound else "none"),
            environ=setting.environ,
            timeout_s=TIMEOUT_S,
        )
        if not file.is_file():
            raise CourseKitError(f"mpirun failed, run `coursekit doctor`: {said[-2000:]}")
        everyone: list[dict[str, list[float]]] = json.loads(file.read_text(encoding="utf-8"))
    return everyone
