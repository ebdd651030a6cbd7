"""Where the time of a run goes: seconds on the clock and of the processor, by folder and of the slowest tests."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import PurePosixPath

import psutil
import pytest

NUM_SLOWEST = 40
SLOW_S = 1  # faster tests are not listed among the slowest
HEAD = f"{'tests':>6} {'clock':>8} {'processor':>10} {'waited':>8}"
PROPERTY = "seconds"
BEGIN = pytest.StashKey[tuple]()


def cpu_s():
    """Return the processor time of this process and of all that it has started, in seconds."""
    used = os.times()
    total_s = used.user + used.system + used.children_user + used.children_system
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            total_s += sum(process.cpu_times()[:4])
    return total_s


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Note when a test begins."""
    item.stash[BEGIN] = time.monotonic(), cpu_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add what a test and its fixtures took to its last report, which a worker sends to the process that sums up."""
    if call.when == "teardown":
        begin_s, begin_cpu_s = item.stash[BEGIN]
        # Less than nothing where what an earlier test has started ended without anybody asking for its status.
        item.user_properties.append((PROPERTY, (time.monotonic() - begin_s, max(0.0, cpu_s() - begin_cpu_s))))
    return (yield)


def pytest_terminal_summary(terminalreporter):
    """Print two tables: folders, where there are several, and the slowest tests."""
    tests = {
        report.nodeid: value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY
    }
    folders = defaultdict(list)
    for test, value in tests.items():
        folders[str(PurePosixPath(test.partition("::")[0]).parent)].append(value)
    slowest = sorted(
        ((test, [value]) for test, value in tests.items() if value[0] >= SLOW_S), key=lambda row: -row[1][0][0]
    )
    tables = {
        "seconds by folder": [*sorted(folders.items()), ("all", [*tests.values()])] if len(folders) > 1 else [],
        "seconds of the slowest tests": slowest[:NUM_SLOWEST],
    }
    for title, rows in tables.items():
        if rows:
            terminalreporter.section(title)
            terminalreporter.line(HEAD)
        for name, values in rows:
            terminalreporter.line(row(name, values))


def row(name, values):
    """Return a line of a table: number of tests, seconds on the clock, of the processor, and the clock's without it."""
    clock_s, processor_s = map(sum, zip(*values))
    waited_s = sum(max(0.0, clock_s - processor_s) for clock_s, processor_s in values)
    return f"{len(values):6} {clock_s:8.1f} {processor_s:10.1f} {waited_s:8.1f}  {name}"
