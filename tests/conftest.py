"""Rules for every test: no silent skip in CI, and no process left behind."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import sysconfig
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

import coursekit  # noqa: F401  # ahead of TensorFlow, which a test may import first: it chooses Keras 2
from coursekit.labs.lab import find_labs
from coursekit.labs.needs import OTHERS

from . import quick, side_by_side

# How to get what a test marked `needs("…")` looks for on the PATH.
REMEDIES = {
    "mpicc": "apt install libopenmpi-dev openmpi-bin, then make env",
    "mpirun": "apt install openmpi-bin",
    "chromium": "apt install chromium",
    "git": "apt install git",
    "bwrap": "apt install bubblewrap",
    "ch-run": "apt install charliecloud",
    **dict.fromkeys(("srun", "sbatch", "squeue", "slurmctld", "slurmd"), "apt install slurm-wlm"),
    "slurmdbd": "apt install slurmdbd",
    "munged": "apt install munge",
    **dict.fromkeys(("mariadb-install-db", "mariadbd"), "apt install mariadb-server"),
    "gcc": "apt install g++ libslurm-dev",
    **dict.fromkeys(("nsenter", "runuser", "unshare"), "apt install util-linux"),
    "newuidmap": "apt install uidmap",
    "shellcheck": "apt install shellcheck",
    "torch": "make torch",
}
# Children of pytest itself that the first test to need them starts and all later ones share.
SESSION_PROCESSES = ("coursekit.ranks.fork_server", "multiprocessing.resource_tracker")
LEFT = pytest.StashKey[list]()  # in words, of the session and its workers
GRACE_S = 120  # on a busy machine; who leaves nothing waits for nothing
KILLED_S = 60  # until who was killed is gone
PR_SET_CHILD_SUBREAPER = 36


def pytest_addoption(pluginmanager):
    """Take in the other files of rules; this early, as xdist soon asks for the number of workers."""
    pluginmanager.register(quick)
    if pluginmanager.hasplugin("xdist"):
        pluginmanager.register(side_by_side)


def pytest_configure(config):
    """Register `needs`, and adopt processes whose parents end, so that a daemon is seen too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell without job control started this; tests send it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[LEFT] = []
    config.addinivalue_line(
        "markers", "needs(*programs): skip unless these are on the PATH, or modules of Python; in CI, fail"
    )
    # As in an activated environment: nbgrader starts alembic by its bare name.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    with contextlib.suppress(OSError, AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pytest_collection_modifyitems(items):
    """Let a test that has a lab's name in its own need what the lab needs."""
    labs = [lab for lab in find_labs(Path(__file__).parents[1]) if lab.framework in OTHERS]
    for item in items:
        for lab in labs:
            if lab.name in item.name:
                item.add_marker(pytest.mark.needs(lab.framework))


def pytest_runtest_setup(item):
    """Skip a test whose programs or modules are not there, and say how to get them."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program) is None and (program not in OTHERS or find_spec(program) is None):
                pytest.skip(f"needs {program}: {REMEDIES.get(program, 'put it on the PATH')}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI, count a skipped test as failed: what it needs should have been installed."""
    del item, call
    return fail_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """In CI, count a module that skips itself as failed."""
    del collector
    return fail_skip_in_ci((yield))


def fail_skip_in_ci(report):
    """Turn a skip into a failure when `CI=true`; an expected failure (xfail) is not a skip."""
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"a test may not be skipped in CI ({reason})"
    return report


@pytest.fixture(autouse=True)
def _no_process_left_behind():
    """Fail a test that leaves processes behind, and end them."""
    before = set(descendants())
    yield
    left = leftovers(before)
    if left:
        pytest.fail(f"the test left processes behind: {end(left)}", pytrace=False)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session):
    """Fail a session that leaves processes behind (from fixtures of modules or of the session), and end them."""
    yield
    left, output = session.config.stash[LEFT], getattr(session.config, "workeroutput", None)
    if processes := leftovers(set()):
        left.append(end(processes))
    if output is not None:  # a worker's own: nobody sees what it prints
        output["left"] = left
    elif left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nthe session left processes behind: {', '.join(left)}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take over what a worker says that it has left behind."""
    node.config.stash[LEFT] += getattr(node, "workeroutput", {}).get("left", [])


def descendants():
    """Return the running processes that this one started, directly or not."""
    return [process for process in psutil.Process().children(recursive=True) if is_running(process)]


def is_running(process):
    """Say whether a process runs; one that ended counts as gone even before its parent has asked for its status."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def leftovers(before):
    """Return new processes that still run after a grace period and are not shared by the whole session."""
    deadline_s = time.monotonic() + GRACE_S
    while True:
        new = [process for process in without_shared(descendants()) if process not in before]
        left = [process for process in new if not is_browsers_helper(process, before)]
        if not left or time.monotonic() > deadline_s:
            return left
        time.sleep(0.05)


def is_browsers_helper(process, before):
    """Say whether a Chromium that was there before has started a process of its own: it does so when it likes."""
    try:
        words = " ".join(process.cmdline())
        if "chrome_crashpad_handler" in words:  # a daemon: no Chromium is its parent
            return any("chromium" in " ".join(one.cmdline()) for one in before if is_running(one))
        return bool(re.search(r"chromium\b.* --type=", words)) and not before.isdisjoint(process.parents())
    except psutil.NoSuchProcess:
        return False


def without_shared(processes):
    """Leave out one child for each of the named ones: a second server, or what a server has started, is a leftover."""
    shared = {}
    for process in sorted(processes, key=psutil.Process.create_time):
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            for name in SESSION_PROCESSES:
                if process.ppid() == os.getpid() and name in command:
                    shared.setdefault(name, process)
    return [process for process in processes if process not in shared.values()]


def end(processes):
    """Kill processes and return what they were."""
    commands = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            commands.append(f"{process.pid} ({' '.join(process.cmdline())[:200]})")
            process.kill()
    psutil.wait_procs(processes, timeout=KILLED_S)
    return ", ".join(commands)
