"""A class graded by a job script on a real Slurm: hand-ins reach nothing of it, and a node that fails loses nothing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.grading.judge.pool import default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.slurm.jobs.slurm_cli import ENDED, look
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster

from .conftest import NAME, RIGHT
from .grader import RUN_S

ROOT = Path(__file__).parents[2]
SLOW_S = 15  # of an answer, so that a node fails while it is tried; a cell may take 60
# What would end the job, if anything of Slurm were within reach.
REACHES_FOR_SLURM = """
def mean(x):
    import os, subprocess
    found = [name for name in os.environ if name.startswith(("SLURM", "SBATCH", "MUNGE"))]
    for folder in ("/run", "/var/run", "/tmp", "/etc/slurm", "/etc/munge"):
        for _, _, files in os.walk(folder):
            names = [name for name in files if ".py" not in name]  # where the environment lies in /tmp
            found += [name for name in names if "munge" in name or "slurm" in name or name == "socket"]
    for words in (["squeue", "--noheader"], ["scancel", "--name=grade"], ["sbatch", "--wrap=true"]):
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=20)
            found += [words[0]] if done.returncode == 0 else []
        except OSError:
            pass
    assert not found, found
    return sum(x) / len(x)
"""


@pytest.mark.needs("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "bwrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_node_that_fails_loses_nothing(course, hand_in, enrol, monkeypatch):
    """Slurm starts the job again on another node, where it goes on: what was judged is not judged a second time."""
    enrol("eve", "zoe")
    hand_in("ada")
    hand_in("bob", answers={**RIGHT, "shard": "def shard(x, rank, size):\n    return x"})
    hand_in("eve", answers={**RIGHT, "mean": REACHES_FOR_SLURM})
    hand_in("zoe", answers={**RIGHT, "mean": f"def mean(x):\n    import time; time.sleep({SLOW_S}); return 3"})
    collect(course, NAME)
    verdicts = course.folder / "verdicts"
    with Cluster(load_site(ROOT, "local"), num_nodes=2) as cluster:
        for name, value in {**cluster.environ, "COURSEKIT_VENV": sys.prefix}.items():
            monkeypatch.setenv(name, value)
        script = ROOT / "slurm" / "jobs" / "local" / "grade.sbatch"
        words = ["sbatch", "--parsable", str(script), "01", "--course", str(course.folder), "--jobs", "1"]
        job_id = subprocess.check_output(words, cwd=course.root, text=True).strip()

        wait_for(lambda: len(list(verdicts.rglob("*.json"))) == 3)
        before = {path: path.stat().st_mtime_ns for path in verdicts.rglob("*.json")}
        failed = look([job_id])[job_id].nodes
        cluster.fail(failed)
        ended = wait_for(lambda: (state := look([job_id])[job_id]).state in ENDED - {"NODE_FAIL"} and state)

    log = (course.root / f"grade-{job_id}.out").read_text()
    assert (ended.state, ended.nodes != failed) == ("COMPLETED", True), log
    points = {one.id: one.points[NAME] for one in read_grades(course).students}
    assert points == {"ada": 3, "bob": 1, "eve": 3, "zoe": 3}, log
    assert {path: path.stat().st_mtime_ns for path in before} == before


def wait_for(found):
    """Return the first true value that a function gives."""
    deadline_s = time.monotonic() + RUN_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, "waited too long"
        time.sleep(0.1)
    return value


@pytest.mark.parametrize(
    ("given", "num_slots"),
    [
        ({}, 16),  # no job
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "2", "SLURM_MEM_PER_NODE": "65536"}, 2),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_NODE": "40960"}, 5),  # each 8 GB
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_CPU": "4096"}, 8),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_CPU": "100"}, 1),
        ({"SLURM_JOB_ID": "7"}, 12),  # what the node has left
    ],
)
def test_a_job_judges_as_many_at_a_time_as_it_has_cores_and_memory_for(given, num_slots, monkeypatch):
    """Slurm's numbers hold, also where the kernel does not; outside of a job, the cores."""
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 100 << 30}))
    assert default_num_slots(SubmissionLimits(memory_gb=6)) == num_slots
