"""Ranks of a hand-in that join by MPI, whose launcher runs beside them in the sandbox."""

import sys
from pathlib import Path

import pytest

from coursekit.grading.judge.pool_worker import grade
from coursekit.grading.judge.slot import Slot, SubmissionLimits, seen_inside
from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE

pytestmark = pytest.mark.needs("bwrap", "mpirun")

# MPI lets a rank start a program through the launcher: this one ends every process that it sees.
SPAWNING = """
import ctypes, threading, time
import horovod.tensorflow as hvd

def spawn_a_killer():
    mpi = ctypes.CDLL(hvd.mpi_lib_file)
    comm, info = (ctypes.c_char.in_dll(mpi, f"ompi_mpi_{name}") for name in ("comm_self", "info_null"))
    argv, children = (ctypes.c_char_p * 3)(b"-c", b"kill -9 -1", None), ctypes.c_void_p()
    after = ctypes.byref(info), 0, ctypes.byref(comm), ctypes.byref(children), None
    mpi.MPI_Comm_spawn(b"/bin/sh", argv, 1, *after)

def rank_facts():
    import glob, os
    hvd.mpi_lib_file = glob.glob(os.path.dirname(hvd.__file__) + "/mpi_lib*.so")[0]
    hvd.init()
    if hvd.rank() == 0:
        threading.Thread(target=spawn_a_killer, daemon=True).start()
    time.sleep(2)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
"""


def test_the_sandbox_finds_the_mpi_of_a_module(monkeypatch, tmp_path):
    """As on systems where a module puts an MPI on the paths that lies in a folder of its own below /usr."""
    (tmp_path / "mpirun").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib64/openmpi/lib")
    _, environ = seen_inside()

    assert environ["PATH"].split(":") == [str(Path(sys.executable).parent), str(tmp_path), "/usr/bin", "/bin"]
    assert environ["LD_LIBRARY_PATH"] == "/usr/lib64/openmpi/lib"


@pytest.fixture
def slot(monkeypatch):
    """A slot whose sandbox joins ranks by MPI."""
    monkeypatch.setenv(CONTROLLER_VARIABLE, "mpi")
    with Slot(limits=SubmissionLimits(notebook_s=60, cell_s=20, memory_gb=2)) as warm:
        yield warm


def test_right_answers_have_all_points_and_spawned_programs_reach_nobody(program, work, slot):
    """A program that a rank spawns is as isolated as ranks are: it ends the launcher at most, not what grades."""
    first, attack, last = (grade(program, work(**facts), slot) for facts in ({}, {"facts": SPAWNING}, {}))

    assert [one.fault for one in (first, attack, last)] == ["", "", ""]
    assert [[test.points for test in one.scores] for one in (first, last)] == [[2.0, 1.0]] * 2
    assert attack.scores[0].points == 2.0
