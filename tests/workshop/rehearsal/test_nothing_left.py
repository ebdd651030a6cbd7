"""However a rehearsal ends, no process, mount or file of it is left."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import PREFIX, Cluster, check_needs

from .conftest import NAME, NEEDS_SLURM, OTHERS

pytestmark = NEEDS_SLURM

ROOT = Path(__file__).parents[3]
SITE = "local"
END_TIMEOUT_S = 600
NUM_STUBBORN = 6  # processes of the job that outlive its script


@pytest.fixture
def _in_the_background():
    """Start processes as a script's shell does with `&`: SIGINT is switched off for them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_exception_ends_everything():
    """A `with` block that an exception leaves has stopped daemons and a stubborn job, and removed the folder."""
    others = _descendants(os.getpid())  # of earlier tests: the fork server that all share
    running = []

    def work():
        with cluster:
            _start_stubborn_job(cluster.environ, os.getpid())
            running.extend(one for one in _descendants(os.getpid()) if one not in others)
            _ = 1 / 0

    cluster = Cluster(load_site(ROOT, SITE))
    with pytest.raises(ZeroDivisionError):
        work()
    assert {"slurmctld", "slurmdbd", "munged", "mariadbd", "slurmd", "sleep"} <= {name for name, _ in running}
    assert _left(running, cluster.folder) == ([], False, [])
    cluster.close()  # twice does no harm
    with pytest.raises(CourseKitError, match=r"\[rehearsal\.not-running\]"):
        cluster.call("sinfo")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.usefixtures("_in_the_background")
def test_a_signal_to_the_command_ends_everything(course, number):
    """Ctrl-C, SIGTERM and even SIGKILL to `workshop rehearse &` leave nothing, whatever jobs do."""
    command = ["workshop", "rehearse", "--site", NAME, "stubborn"]
    with subprocess.Popen(command, cwd=course, stdout=subprocess.DEVNULL) as rehearsal:
        try:
            _wait_for(lambda: len(_sleeping(rehearsal.pid)) >= NUM_STUBBORN or rehearsal.poll() is not None)
            folder = Path(_sleeping(rehearsal.pid)[0].environ()["SLURM_CONF"]).parent
            running = _descendants(rehearsal.pid)
        finally:
            rehearsal.send_signal(number)
        assert rehearsal.wait(END_TIMEOUT_S) == (-number if number == signal.SIGKILL else 128 + number)
    _wait_for(lambda: _left(running, folder) == ([], False, []))


def test_a_daemon_that_does_not_start_is_quoted_and_leaves_nothing(monkeypatch):
    """In a folder that others may not enter, munged refuses: the error quotes it, and all is taken down again."""
    with tempfile.TemporaryDirectory(prefix="ck-") as private:
        monkeypatch.setattr(tempfile, "tempdir", private)
        with pytest.raises(
            CourseKitError, match=r"^munged .*execute permissions for all required on.*\[rehearsal\.no-start\]"
        ):
            Cluster(load_site(ROOT, SITE)).__enter__()
        assert list(Path(private).iterdir()) == []


def test_missing_programs_are_named_by_their_packages(monkeypatch):
    """Without Slurm and MariaDB on the PATH, the message names what to install."""
    monkeypatch.setenv("PATH", "")
    packages = "slurm-wlm slurmdbd munge mariadb-server util-linux"
    with pytest.raises(CourseKitError, match=rf"apt install {packages}\. \[rehearsal\.packages\]"):
        check_needs(load_site(ROOT, SITE))


def test_an_ordinary_user_is_told_that_it_needs_root():
    """Who is not root gets a sentence and no half-made Slurm."""
    os.seteuid(65534)
    try:
        with pytest.raises(CourseKitError, match=r"\[rehearsal\.root\]"), Cluster(load_site(ROOT, SITE)):
            pass
    finally:
        os.seteuid(0)


def _start_stubborn_job(environ, pid):
    """Start it, and return when all that it starts is there, below a process."""
    words = ["sbatch", "--output=/dev/null"]
    subprocess.run(words, input=OTHERS["stubborn"], env={**os.environ, **environ}, check=True, text=True)
    _wait_for(lambda: len(_sleeping(pid)) >= NUM_STUBBORN)


def _sleeping(pid):
    """Return the processes below one that a stubborn job has started."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] if process.cmdline() == ["sleep", "3600"] else []
    return found


def _descendants(pid):
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended between the two questions
            found.append((process.name(), process))
    return found


def _left(processes, folder):
    """Return what is left: processes, whether the folder is there, and mounts that name it."""
    assert folder.name.startswith(PREFIX)
    alive = [name for name, process in processes if _is_alive(process)]
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if folder.name in line]
    return alive, folder.exists(), mounts


def _is_alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended between the two questions
        return False


def _wait_for(is_so):
    deadline = time.monotonic() + END_TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
