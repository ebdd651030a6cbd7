"""Run a benchmark's programs one after another, measure what each takes, and leave nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from coursekit.environ import kernel_environment
from coursekit.errors import CourseKitError
from coursekit.processes import end_marked

THING_S = 900.0  # time limit for a process of `things`
# Runs in a small separate process: on Linux, a program's peak memory is at least that of the process that starts it.
RUN = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True)
seconds = time.perf_counter() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
said = [text.decode(errors="replace") for text in (done.stdout, done.stderr)]
print(json.dumps([done.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, *said]))
"""


class Used(NamedTuple):
    """The resources that a program took."""

    seconds: float
    cpu_s: float  # of all its processes
    peak_memory_mb: float  # of the largest one, in 10^6 bytes
    output: str  # what it printed


def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    folder: Path | None = None,  # in which it starts
    environ: Mapping[str, str] | None = None,
    good: Sequence[int] = (0,),  # exit statuses of a success
) -> Used:
    """Run a program: `argv` begins with its path, or with the name of a Python module to run.

    Raises:
        CourseKitError: it failed, or took longer than its limit.
    """
    command = argv if argv[0].startswith("/") else [sys.executable, "-m", *argv]
    named = " ".join(argv[:3])
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as home:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", RUN, *command],
                cwd=folder,
                env={**kernel_environment(Path(home)), "TF_CPP_MIN_LOG_LEVEL": "2", **(environ or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=True,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise CourseKitError(f"{named} took longer than {timeout_s:g} s", "bench.too-slow") from None
        finally:
            end_marked(Path(home))
    status, seconds, cpu_s, peak_memory_mb, output, errors = json.loads(done.stdout)
    if status not in good:
        said = (errors.strip() or output.strip())[-2000:]
        raise CourseKitError(f"{named} failed; run `coursekit doctor`. It printed:\n{said}", "bench.program-failed")
    return Used(seconds, cpu_s, peak_memory_mb, output + errors)


def times(
    thing: str, *args: str, environ: Mapping[str, str] | None = None, python: str = sys.executable
) -> dict[str, list[float]]:
    """Run one of `things.THINGS` in a process; return the seconds of each time, by what was done."""
    argv = [python, "-m", "workshop.bench.things", thing, *args]
    lines = run(argv, timeout_s=THING_S, environ=environ).output.splitlines()
    found: dict[str, list[float]] = json.loads(next(line for line in lines if line.startswith("{")))
    return found
