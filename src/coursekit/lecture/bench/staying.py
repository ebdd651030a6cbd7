"""The benchmarks of ranks that stay, beside the engines of ipyparallel: until two are there, and a cell on both."""

from __future__ import annotations

import importlib.util
import logging
import os
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coursekit import ranks
from coursekit.lecture.bench.measurement import Measurement, Series
from coursekit.lecture.bench.steps import seconds_of
from coursekit.ranks.staying_rank import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    RunCell = Callable[[], object]

NUM_RANKS = 2
CELLS_PER_START = 20
CELL = "1 + 1"
NEEDED = ("ipyparallel", "mpi4py")  # for engines that mpirun starts
# Open MPI starts nothing for root, as whom containers and tests run, unless both say so.
FOR_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def measure_start(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure how long it takes until both wait for cells; the first time starts the fork server, too."""
    starts, _ = _measure(repeat, progress)
    return _measurement(f"until {NUM_RANKS} ranks wait for cells", starts)


def measure_cell(repeat: int, progress: Callable[[str], None]) -> Measurement:
    """Measure a cell from its call to the last value, `CELLS_PER_START` times after each start."""
    _, cells = _measure(repeat, progress)
    return _measurement(f"the cell {CELL!r} on {NUM_RANKS} ranks that wait", cells)


def _measure(repeat: int, progress: Callable[[str], None]) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Start each way in turns; return the seconds of its starts, and those of its cells."""
    ways = {"%ranks": _staying_ranks, **({"%ipcluster": _engines} if _has_engines() else {})}
    starts: dict[str, list[float]] = {way: [] for way in ways}
    cells: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(repeat + 1):
        for way, start in ways.items():
            progress(f"{way}, {f'turn {turn} of {repeat}' if turn else 'first start'}")
            begin = time.perf_counter()
            with start() as run_cell:
                starts[way].append(time.perf_counter() - begin)
                cells[way] += [seconds_of(run_cell) for _ in range(CELLS_PER_START)]
    return starts, cells


def _measurement(title: str, seconds: dict[str, list[float]]) -> Measurement:
    if not _has_engines():
        title += f" (engines are not measured: {' and '.join(NEEDED)} are not both installed)"
    return Measurement(title, tuple(Series(way, first, tuple(later)) for way, (first, *later) in seconds.items()))


def _has_engines() -> bool:
    return all(map(importlib.util.find_spec, NEEDED))


@contextmanager
def _staying_ranks() -> Iterator[RunCell]:
    with ranks.start(NUM_RANKS) as there:
        yield lambda: there.cell(execute, CELL, "<a cell>")


@contextmanager
def _engines() -> Iterator[RunCell]:
    """Start engines as `%ipcluster start -n 2 --mpi` does, and wait until all have registered."""
    import ipyparallel  # noqa: PLC0415  # rarely there

    for name, value in FOR_ROOT.items():
        os.environ.setdefault(name, value)
    settings = {"n": NUM_RANKS, "engines": "mpi", "log_level": logging.ERROR}
    with (
        tempfile.TemporaryDirectory(prefix="coursekit-bench-") as folder,  # else its logs would stay with the user's
        ipyparallel.Cluster(profile_dir=folder, **settings) as client,
    ):
        yield lambda: client[:].execute(CELL, block=True)
