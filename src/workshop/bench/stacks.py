"""Both TensorFlows that the kit can be made with, in turns: import, start of ranks, training steps.

As a program it measures one thing with the TensorFlow of its own environment, and prints the seconds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coursekit.environ import scrubbed
from coursekit.errors import CourseKitError
from coursekit.processes import MARK, end_marked, end_with_parent
from workshop.bench.measurement import Rows

TENSORFLOWS = ("2.15", "2.21")
MAKE_S = 3600.0  # Horovod is compiled where it was not before
MEASURE_S = 600.0
NUM_CALLS = 5  # starts of ranks in a turn, after a first one
NETWORKS = {"MobileNetV2": 96, "ResNet50": 64}  # and the height and width of their images, in pixels
THINGS = ("import", "start", *NETWORKS)


@dataclass(frozen=True)
class StackMeasurement:
    """What each TensorFlow took, in seconds: `stacks[tensorflow][thing]`, all turns one after the other."""

    stacks: dict[str, dict[str, list[float]]]


def measure_stacks(repeat: int, progress: Callable[[str], None]) -> StackMeasurement:
    """Make a checkout of HEAD with the other TensorFlow, and measure with it and with this one in turns.

    Raises:
        CourseKitError: the other environment cannot be made, or a measurement failed.
    """
    own = ".".join(version("tensorflow-cpu").split(".")[:2])
    seconds: dict[str, dict[str, list[float]]] = {tensorflow: {} for tensorflow in TENSORFLOWS}
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as folder:
        pythons = {own: sys.executable}
        for tensorflow in set(TENSORFLOWS) - {own}:
            progress(f"making an environment with TensorFlow {tensorflow}")
            pythons[tensorflow] = _other_python(tensorflow, Path(folder) / "checkout")
        for turn in range(1, repeat + 1):
            for thing in THINGS:
                for tensorflow in TENSORFLOWS:
                    progress(f"{thing} with TensorFlow {tensorflow}, turn {turn} of {repeat}")
                    for name, taken in measured_s(pythons[tensorflow], thing, Path(folder)).items():
                        seconds[tensorflow].setdefault(name, []).extend(taken)
    return StackMeasurement(seconds)


def _other_python(tensorflow: str, checkout: Path) -> str:
    """Clone this checkout, make its environment with a TensorFlow, and return its Python."""
    clone = ["git", "clone", "--quiet", str(Path.cwd()), str(checkout)]
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"  # the same
    make = ["make", "--silent", "-C", str(checkout), "env", f"TENSORFLOW={tensorflow}", f"PYTHON={python}"]
    for command in (clone, make):
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAKE_S, check=False, env=scrubbed())
        if done.returncode:
            raise CourseKitError(f"`{' '.join(command)}` failed: {(done.stdout + done.stderr).strip()[-2000:]}")
    return str(checkout / ".venv" / "bin" / "python")


def measured_s(python: str, thing: str, folder: Path) -> dict[str, list[float]]:
    """Measure a thing with an environment's Python and this checkout's code; return seconds by what they are of."""
    source = Path(__file__).parents[2]
    environ = {**scrubbed(), MARK: str(folder), "PYTHONPATH": str(source), "TF_CPP_MIN_LOG_LEVEL": "2"}
    try:
        done = subprocess.run(
            [python, "-m", "workshop.bench.stacks", thing],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MEASURE_S,
            check=False,
            env=environ,
        )
    except subprocess.TimeoutExpired:
        raise CourseKitError(f"{thing} with {python} took longer than {MEASURE_S:g} s") from None
    finally:
        end_marked(folder)
    if done.returncode:
        raise CourseKitError(f"{thing} with {python} failed, run `coursekit doctor`: {done.stderr.strip()[-2000:]}")
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def import_s() -> dict[str, list[float]]:
    """Import what a rank imports."""
    begin = time.perf_counter()
    import horovod.tensorflow.keras  # noqa: F401  # what is measured

    return {"import of TensorFlow and Horovod": [time.perf_counter() - begin]}


def start_s() -> dict[str, list[float]]:
    """Start two ranks for one allreduce, again and again."""
    from workshop.bench.caller import through_ranks_run  # not where the import is measured

    seconds = []
    for _ in range(1 + NUM_CALLS):
        begin = time.perf_counter()
        through_ranks_run()
        seconds.append(time.perf_counter() - begin)
    return {"start of two ranks, with one allreduce": seconds[1:]}


def steps_s(network: str) -> dict[str, list[float]]:
    """Train on two ranks: the first step, which builds the graph, and the steps after it."""
    from workshop.bench import communication, steps  # as above

    case, setting = steps.Case(network, NETWORKS[network], 16, 2, 5), communication.SETTINGS[0]
    everyone = communication.on_two_ranks(steps.compare_with_no_communication, case, setting, environ={})
    first, *later = communication.mean_over_ranks(everyone)[setting.name]
    return {f"first step of {network}": [first], f"training step of {network} on two ranks": later}


def stack_rows(measured: dict[str, Any]) -> Rows:
    """Return what `measure_stacks` found, as plain data, as a table of medians."""
    old, new = (measured["stacks"][tensorflow] for tensorflow in TENSORFLOWS)
    rows: Rows = [("median, both in turns", *(f"s with {tensorflow}" for tensorflow in TENSORFLOWS), "ratio", "times")]
    for name in old:
        old_s, new_s = statistics.median(old[name]), statistics.median(new[name])
        rows.append((name, f"{old_s:.3f}", f"{new_s:.3f}", f"{new_s / old_s:.2f}", str(len(new[name]))))
    return rows


if __name__ == "__main__":
    end_with_parent()
    wanted = sys.argv[1]
    print(json.dumps(steps_s(wanted) if wanted in NETWORKS else {"import": import_s, "start": start_s}[wanted]()))
