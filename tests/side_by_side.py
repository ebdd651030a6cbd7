"""Tests side by side: files go to workers, the long ones first.

Tests of one file run one after the other in one worker, as they share fixtures; the tables here say what does not.
"""

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
    "workshop/answers/test_answer_banks.py",
    "tools/test_other_stack.py",
    "course/test_kill.py",
    "course/test_grade_ends.py",
    "course/test_grade_in_a_job.py",
    "jupyter/hub/test_day.py",
    "slurm/jobs/test_on_slurm.py",
    "workshop/rehearsal/test_nothing_left.py",
    "labs/run/test_site_run.py",
    "ranks/test_job_step.py",
    "workshop/rehearsal/test_sites.py",
    "workshop/attacks/test_attacks.py",
    "labs/test_accessibility.py",
    "labs/test_interrupted.py",
    "labs/test_in_jupyterlab.py",
    "workshop/answers/test_nbgrader_agrees.py",
    "course/test_guides.py",
    "workshop/bench/test_generated_class.py",
    "course/test_grade.py",
    "grading/judge/test_pool.py",
    "grading/judge/test_pool_worker.py",
    "workshop/bench/test_steps.py",
    "workshop/rehearsal/test_container.py",
    "workshop/bench/test_launch.py",
    "labs/build/test_script.py",
    "checks/test_forgeries.py",
    "ranks/test_rank_process.py",
    "ranks/test_fork_client.py",
    "ranks/test_magic.py",
    "labs/run/test_session.py",
    "labs/run/test_command.py",
    "ranks/test_node_server.py",
    "labs/run/test_execute.py",
    "jupyter/kernels/test_command.py",
)
# Of these, files whose tests share nothing: each test goes to a worker of its own.
APART = ("workshop/rehearsal/test_sites.py", "workshop/rehearsal/test_nothing_left.py")
# Files of which none runs beside another of its group.
TOGETHER = (
    # Accounts and ports of the same numbers.
    ("jupyter/hub/test_day.py", "jupyter/hub/test_site.py", "jupyter/hub/test_command.py"),
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
    """Like `--dist loadfile`, with the two tables; xdist 3.8's own groups are not seen by pytest 9.2."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0].removeprefix("tests/")
        return nodeid if file in APART else next((group[0] for group in TOGETHER if file in group), file)


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
