"""Ranks as tasks of a job step, with a small program in place of srun that starts the tasks on this machine."""

import os
import sys
import textwrap
import time

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.ranks import job_step
from coursekit.ranks.allocation import has_tasks_for

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

SRUN = """\
#!{python}
import os, socket, subprocess, sys
options = [word for word in sys.argv[1:] if word.startswith("--")]
command = sys.argv[1 + len(options):]
if "--refuse" in options:
    sys.exit("srun: error: Unable to create step")
num_tasks = int(dict(option[2:].split("=") for option in options if "=" in option)["ntasks"])
environ = {{**os.environ, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": str(num_tasks)}}
if "--silent-strangers" in options:
    host, port = os.environ["COURSEKIT_STEP"].split(":")[:2]
    strangers = [socket.create_connection((host, int(port))) for _ in range(3)]
tasks = [
    subprocess.Popen(command, env={{**environ, "SLURM_PROCID": str(rank), "SLURM_NODEID": str(rank)}})
    for rank in range(num_tasks)
]
sys.exit(max(task.wait() for task in tasks))
"""


@pytest.fixture
def _allocation(tmp_path, monkeypatch):
    """Pretend an allocation of two tasks, one on each of two nodes."""
    srun = tmp_path / "srun"
    srun.write_text(textwrap.dedent(SRUN).format(python=sys.executable))
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    yield
    job_step.shared.close()


@pytest.mark.usefixtures("_allocation")
def test_a_step_is_used_when_the_job_has_a_task_for_each_rank(monkeypatch):
    """Too few tasks, no job, or the wish for local ranks: then ranks start on this machine."""
    assert [has_tasks_for(num_ranks) for num_ranks in (1, 2, 3)] == [True, True, False]
    monkeypatch.setenv("COURSEKIT_RANKS", "local")
    assert not has_tasks_for(2)
    monkeypatch.delenv("COURSEKIT_RANKS")
    monkeypatch.delenv("SLURM_JOB_ID")
    assert not has_tasks_for(2)


@pytest.mark.usefixtures("_allocation")
def test_several_nodes_without_srun_are_refused_and_one_node_runs_its_ranks(tmp_path, monkeypatch):
    """Else all ranks of a job of two nodes would run on its first node; local ranks can be asked for."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(ranks.RankError) as caught:
        ranks.run(os.getpid, num_ranks=2)
    assert caught.value.code == "srun.missing"
    monkeypatch.setenv("COURSEKIT_RANKS", "local")
    assert not has_tasks_for(2)
    monkeypatch.delenv("COURSEKIT_RANKS")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "1")
    assert not has_tasks_for(2)


def place_and_sum(values):
    """Return the rank's place, and the sum over ranks."""
    import horovod.tensorflow as hvd

    hvd.init()
    print(f"in a step, cycle {os.environ.get('HOROVOD_CYCLE_TIME')}")
    total = hvd.allreduce(values[hvd.rank()], op=hvd.Sum).numpy()
    return hvd.rank(), hvd.local_size(), hvd.cross_size(), total.tolist()


def fail_or_hang(what):
    """Fail, or hang in a broadcast, on rank 0 only."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 0 and what == "fail":
        raise ValueError("own words")
    if hvd.rank() == 0:
        hvd.broadcast(np.zeros(1), root_rank=0)
    time.sleep(3600)


@pytest.mark.usefixtures("_allocation")
def test_a_step_serves_runs_as_one_machine_does(capsys):
    """Results, output, exceptions and deadlines come from tasks on two nodes, and a second run is quick."""
    values = np.array([[1.0, 2.0], [10.0, 20.0]])
    expected = [(0, 1, 2, [11.0, 22.0]), (1, 1, 2, [11.0, 22.0])]
    assert ranks.run(place_and_sum, values, environ={"HOROVOD_CYCLE_TIME": "5"}) == expected
    assert sorted(capsys.readouterr().out.splitlines()) == ["[0] in a step, cycle 5", "[1] in a step, cycle 5"]
    step = job_step.shared.get()
    with pytest.raises(ranks.RankError, match="own words") as caught:
        ranks.run(fail_or_hang, "fail")
    assert caught.value.code == "rank.raised"
    with pytest.raises(ranks.RankTimeoutError, match=r"rank 0 waits in hvd\.broadcast") as caught:
        ranks.run(fail_or_hang, "hang", timeout_s=3)
    assert caught.value.code == "ranks.deadline"
    assert ranks.run(place_and_sum, values) == expected
    assert job_step.shared.get() is step


@pytest.mark.usefixtures("_allocation")
def test_a_step_that_srun_refuses_is_said_with_its_words(monkeypatch):
    """Flags of the site go to srun, and its complaint comes back."""
    monkeypatch.setenv("COURSEKIT_SRUN_FLAGS", "--refuse")
    with pytest.raises(ranks.RankError, match="srun: error: Unable to create step") as caught:
        ranks.run(fail_or_hang, "fail")
    assert caught.value.code == "srun.not-started"


@pytest.mark.usefixtures("_allocation")
def test_strangers_who_say_nothing_hold_up_nobody(monkeypatch):
    """A connection proves itself beside the others."""
    monkeypatch.setenv("COURSEKIT_SRUN_FLAGS", "--silent-strangers")
    values = np.array([[1.0, 2.0], [10.0, 20.0]])
    assert ranks.run(place_and_sum, values) == [(0, 1, 2, [11.0, 22.0]), (1, 1, 2, [11.0, 22.0])]
