"""Compare both TensorFlows that the kit can be built with, in turns: import, start of ranks, training steps."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from workshop.bench.communication import CASES, SETTINGS
from workshop.bench.measurement import Measurement, Progress, Rows
from workshop.bench.programs import run, times

TENSORFLOWS = ("2.15", "2.21")
MAKE_S = 3600.0  # Horovod is compiled if it has not been before
# What a process does, by the row names for its first time and for all later ones.
THINGS: dict[tuple[str, str], tuple[str, ...]] = {
    ("import of TensorFlow and Horovod", ""): ("import",),
    ("", "start of two ranks, with one allreduce"): ("calls", "ranks.run, Gloo", "5"),
} | {
    (f"first step of {network}", f"training step of {network} on two ranks"): (
        *("steps", json.dumps(asdict(case.in_turns(2))), json.dumps(asdict(SETTINGS[0]))),
    )
    for network, case in CASES.items()
}


def measure_stacks(repeat: int, progress: Progress) -> Measurement:
    """Make a checkout of HEAD with the other TensorFlow, and measure with both in turns.

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
            for names, thing in THINGS.items():
                for tensorflow in TENSORFLOWS:
                    progress(f"{thing[0]} with TensorFlow {tensorflow}, turn {turn} of {repeat}")
                    add_times(seconds[tensorflow], pythons[tensorflow], names, thing)
    return Measurement(stack_rows(seconds))


def _other_python(tensorflow: str, checkout: Path) -> str:
    """Clone this checkout, make its environment with this TensorFlow, and return its Python."""
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"  # the same
    make = f"git clone --quiet {Path.cwd()} {checkout} && make --silent -C {checkout} env"
    run(["/bin/sh", "-c", f"{make} TENSORFLOW={tensorflow} PYTHON={python}"], timeout_s=MAKE_S)
    return str(checkout / ".venv" / "bin" / "python")


def add_times(seconds: dict[str, list[float]], python: str, names: tuple[str, str], thing: Sequence[str]) -> None:
    """Run a thing with an environment's Python and this checkout's code, and add its times under the names."""
    *_, (first, *later) = times(*thing, python=python, environ={"PYTHONPATH": str(Path(__file__).parents[2])}).values()
    for name, taken in zip(names, ([first], later)):
        if name:
            seconds.setdefault(name, []).extend(taken)


def stack_rows(seconds: Mapping[str, Mapping[str, Sequence[float]]]) -> Rows:
    """Return the medians of both TensorFlows for each measurement."""
    old, new = (seconds[tensorflow] for tensorflow in TENSORFLOWS)
    rows: Rows = [("median, both in turns", *(f"s with {tensorflow}" for tensorflow in TENSORFLOWS), "ratio", "times")]
    for name in old:
        old_s, new_s = statistics.median(old[name]), statistics.median(new[name])
        rows.append((name, f"{old_s:.3f}", f"{new_s:.3f}", f"{new_s / old_s:.2f}", str(len(new[name]))))
    return rows
