"""A class graded by a job script on a real Slurm: hand-ins reach nothing of it, and a node that fails loses nothing."""

import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.grade import ArrayTask
from coursekit.errors import CourseKitError
from coursekit.grading.isolation import cgroups
from coursekit.grading.judge.pool import PoolSettings, default_num_slots, lack_of_memory
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.slurm.jobs.slurm_cli import ENDED, look
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster

from .conftest import NAME, RIGHT
from .grader import RUN_S

ROOT = Path(__file__).parents[2]
ENDS = re.compile(r"task \d of 2 is done")
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


PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "bwrap")


@pytest.fixture(scope="module")
def cluster():
    """A Slurm with two nodes, as the job script's site has them."""
    with Cluster(load_site(ROOT, "local"), num_nodes=2) as cluster:
        yield cluster


@pytest.fixture
def grade(course, cluster, monkeypatch):
    """A function that submits the job script for the course, with options of sbatch; it returns the job's number."""
    for name, value in {**cluster.environ, "COURSEKIT_VENV": sys.prefix}.items():
        monkeypatch.setenv(name, value)
    script = ROOT / "slurm" / "jobs" / "local" / "grade.sbatch"

    def submit(*options):
        words = ["sbatch", "--parsable", *options, str(script), "01", "--course", str(course.folder), "--jobs", "1"]
        return subprocess.check_output(words, cwd=course.root, text=True).strip()

    return submit


def points_of(course):
    """Return the points of each student in the gradebook."""
    return {one.id: one.points[NAME] for one in read_grades(course).students if NAME in one.points}


@pytest.mark.needs(*PROGRAMS)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_array_of_jobs_shares_the_class(course, hand_in, enrol, grade):
    """Each hand-in is judged by one task; none records anything; one more job records all, and judges nothing."""
    mean = "def mean(x):\n    return sum(x) / len(x) + {}"
    answers = {name: {**RIGHT, "mean": mean.format(number)} for number, name in enumerate("abcdef")}
    enrol(*answers)
    for name, given in answers.items():
        hand_in(name, answers=given)
    collect(course, NAME)

    grade("--array=1-2")
    tasks = wait_for(lambda: len(logs := list(course.root.glob("grade-*.out"))) == 2 and logs)
    logs = wait_for(lambda: all(map(ENDS.search, texts := [task.read_text() for task in tasks])) and texts)
    judged = [name for text in logs for name in re.findall(r"^(\w) 01-small: \d of 3 \(", text, re.MULTILINE)]
    assert (sorted(judged), points_of(course)) == (sorted(answers), {}), logs

    job_id = grade()
    wait_for(lambda: look([job_id])[job_id].state in ENDED)
    log = (course.root / f"grade-{job_id}.out").read_text()
    assert points_of(course) == {"a": 3, **dict.fromkeys("bcdef", 2)}, log
    assert log.count("(as before)") == len(answers), log


@pytest.mark.needs(*PROGRAMS)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_node_that_fails_loses_nothing(course, hand_in, enrol, cluster, grade):
    """Slurm starts the job again on another node, where it goes on: what was judged is not judged a second time."""
    enrol("eve", "zoe")
    hand_in("ada")
    hand_in("bob", answers={**RIGHT, "shard": "def shard(x, rank, size):\n    return x"})
    hand_in("eve", answers={**RIGHT, "mean": REACHES_FOR_SLURM})
    hand_in("zoe", answers={**RIGHT, "mean": f"def mean(x):\n    import time; time.sleep({SLOW_S}); return 3"})
    collect(course, NAME)
    verdicts = course.folder / "verdicts"
    job_id = grade()

    wait_for(lambda: len(list(verdicts.rglob("*.json"))) == 3)
    before = {path: path.stat().st_mtime_ns for path in verdicts.rglob("*.json")}
    failed = look([job_id])[job_id].nodes
    cluster.fail(failed)
    ended = wait_for(lambda: (state := look([job_id])[job_id]).state in ENDED - {"NODE_FAIL"} and state)

    log = (course.root / f"grade-{job_id}.out").read_text()
    assert (ended.state, ended.nodes != failed) == ("COMPLETED", True), log
    assert points_of(course) == {"ada": 3, "bob": 1, "eve": 3, "zoe": 3}, log
    assert {path: path.stat().st_mtime_ns for path in before} == before


def wait_for(found):
    """Return the first true value that a function gives."""
    deadline_s = time.monotonic() + RUN_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, "waited too long"
        time.sleep(0.1)
    return value


def test_tasks_of_an_array_without_gaps_share_the_class():
    """Outside of an array there is one share; numbers may begin anywhere; a gap would leave hand-ins to no task."""
    names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT")
    staged = [SimpleNamespace(key=f"{number:064x}") for number in range(12)]
    tasks = [ArrayTask.of(dict(zip(names, (str(number), "5", "8", "4")))) for number in range(5, 9)]
    shares = [[int(one.key, 16) for one in task.share(staged)] for task in tasks]
    assert shares == [[1, 5, 9], [2, 6, 10], [3, 7, 11], [0, 4, 8]]
    assert ArrayTask.of({}).share(staged) == staged
    with pytest.raises(CourseKitError, match=r"--array=1-2.*\[array\.gaps\]"):
        ArrayTask.of(dict(zip(names, ("1", "1", "3", "2"))))


@pytest.mark.parametrize(
    ("given", "memory_gb", "num_cores", "num_slots", "wanted"),
    [
        ({}, None, None, 16, ""),  # neither job nor container
        ({}, 40, None, 5, ""),
        ({}, None, 2.5, 2, ""),
        ({}, 1.1, 0.5, 1, "1 hand-in at a time may use 8.0 GB of memory, and the grader has 1.1 GB"),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "2", "SLURM_MEM_PER_NODE": "65536"}, None, None, 2, ""),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_NODE": "40960"}, None, None, 5, ""),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_NODE": "40960"}, 20, None, 2, ""),
        ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_CPU": "4096"}, None, None, 8, ""),
        (
            {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_CPU": "100"}, None, None, 1,
            "1 hand-in at a time may use 8.0 GB of memory, and the grader has 1.6 GB",
        ),
        ({"SLURM_JOB_ID": "7"}, None, None, 12, ""),  # what the node has left
    ],
)  # fmt: skip
def test_a_job_or_container_judges_as_many_at_a_time_as_it_has_cores_and_memory_for(  # noqa: PLR0913, PLR0917
    given, memory_gb, num_cores, num_slots, wanted, monkeypatch
):
    """Each may take 8 GB. Slurm's numbers hold, also where the kernel does not; elsewhere the cores decide.

    Where even one may lack memory, or more at a time that are asked for, a sentence says so.
    """
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    memory = SimpleNamespace(available=100 << 30, total=120 << 30)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr(cgroups, "memory_bytes", lambda: (memory_gb or math.inf) * 2**30)
    monkeypatch.setattr(cgroups, "num_cores", lambda: num_cores or math.inf)
    limits = SubmissionLimits(memory_gb=6)

    assert default_num_slots(limits) == num_slots
    assert lack_of_memory(PoolSettings(num_slots, limits)).partition(":")[0] == wanted
    is_limited = memory_gb or "SLURM_JOB_ID" in given
    assert bool(lack_of_memory(PoolSettings(16, limits))) == bool(is_limited)
