"""Tests side by side: files go to workers, the long ones first, and what waits runs beside what computes.

Tests of one file run one after the other in one worker, as they share fixtures; the tables here say what does not.
"""

from __future__ import annotations

import os
import signal
import time

import pytest
from xdist.scheduler import LoadScopeScheduling

NUM_WAITING = 1  # workers more than cores: so many tests may wait while others compute
END_TIMEOUT_S = 60
# What takes longest begins first, so that at the end no worker is left with a long test.
# Beside the banks, which keep all cores busy, first what mostly waits: for kills, Slurm and browsers.
LONG = (
    "grading/bank/test_answer_banks.py",
    "course/test_kill.py",
    "grading/array/test_by_slurm.py",
    "course/test_grade_ends.py",
    "jupyter/hub/test_day.py",
    "slurm/jobs/test_on_slurm.py",
    "slurm/rehearsal/test_nothing_left.py",
    "labs/run/test_site_run.py",
    "ranks/test_job_step.py",
    "slurm/rehearsal/test_sites.py",
    "attacks/test_attacks.py",
    "labs/test_accessibility.py",
    "labs/test_interrupted.py",
    "labs/test_in_jupyterlab.py",
    "jupyter/link/test_in_jupyterlab.py",
    "grading/bank/test_nbgrader_agrees.py",
    "grading/bank/test_soak.py",
    "course/test_readme_lines.py",
    "lecture/bench/test_made_class.py",
    "course/test_grade.py",
    "grading/judge/test_pool.py",
    "grading/judge/test_grade_one.py",
    "grading/judge/test_staying_ranks.py",
    "lecture/bench/test_steps.py",
    "lecture/bench/test_launch.py",
    "labs/build/test_twin.py",
    "course/test_cycle.py",
    "test_conftest.py",
    "checks/test_forgeries.py",
    "ranks/test_worker.py",
    "ranks/test_forkserver.py",
    "ranks/test_magic.py",
    "ranks/test_notebooks.py",
    "labs/run/test_session.py",
    "labs/run/test_command.py",
    "ranks/test_slurm.py",
    "labs/run/test_execute.py",
    "labs/run/test_preloaded.py",
    "jupyter/kernels/test_command.py",
)
# Of these, files whose tests share nothing: each test goes to a worker of its own.
APART = ("slurm/rehearsal/test_sites.py", "slurm/rehearsal/test_nothing_left.py")
# Files of which none runs beside another of its group.
TOGETHER = (
    # Accounts and ports of the same numbers.
    ("jupyter/hub/test_day.py", "jupyter/hub/test_site.py", "jupyter/hub/test_command.py"),
    ("lecture/slides/test_make.py", "lecture/slides/test_topics.py"),  # the whole lecture, in build/slides
)


def pytest_xdist_auto_num_workers():
    """Return the number of workers for `-n auto`."""
    return len(os.sched_getaffinity(0)) + NUM_WAITING


def pytest_collection_modifyitems(config, items):
    """Put the long tests first where tests run side by side."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))


def place(nodeid):
    """Return a test's place in the list of long ones; all others share the last."""
    return next((i for i, name in enumerate(LONG) if nodeid.startswith(f"tests/{name}")), len(LONG))


def is_long(nodeid):
    """Return whether a test is of a long file."""
    return place(nodeid) < len(LONG)


def pytest_xdist_make_scheduler(config, log):
    """Hand out tests as this module says."""
    return Scheduling(config, log)


class Scheduling(LoadScopeScheduling):
    """Files in their order, but behind a long test a worker gets a short one.

    A worker begins a test when it knows the next one, which so waits until the first has ended.
    """

    def __init__(self, config, log=None):
        super().__init__(config, log)
        config.option.loadscopereorder = False  # xdist's own order is by number of tests

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        name = file.removeprefix("tests/")
        return nodeid if name in APART else next((group[0] for group in TOGETHER if name in group), file)

    def _assign_work_unit(self, node):
        pending = [test for unit in self.assigned_work[node].values() for test, done in unit.items() if not done]
        if pending and is_long(pending[-1]):
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node):
        if not self.workqueue or self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt():
    """Let nothing, not a second Ctrl-C either, interrupt the end of fixtures."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    """After Ctrl-C, give the workers time to end their fixtures; xdist itself would kill them after some seconds."""
    dsession = session.config.pluginmanager.getplugin("dsession")
    if dsession is None or exitstatus != pytest.ExitCode.INTERRUPTED:
        return
    nodes = dsession._active_nodes  # noqa: SLF001  # xdist has no public name for them
    for node in nodes:
        node.gateway._io.popen.send_signal(signal.SIGINT)  # noqa: SLF001
    deadline_s = time.monotonic() + END_TIMEOUT_S
    while not all(node._down for node in nodes) and time.monotonic() < deadline_s:  # noqa: SLF001
        time.sleep(0.05)
