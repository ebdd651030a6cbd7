"""The student's way on a real Slurm, shaped like Karolina: submit, wait, follow, fail, cancel."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from coursekit.errors import CourseKitError, codes_in
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.explain import explain, read_tail, reason_of
from coursekit.slurm.jobs.remembered import SubmittedJob, find_job, list_jobs, read_result
from coursekit.slurm.jobs.slurm_cli import call, look
from coursekit.slurm.jobs.submit import submit
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.shape import node_names

ROOT = Path(__file__).parents[3]
COURSEKIT = str(Path(sys.executable).with_name("coursekit"))
SITE = "karolina"
PARTITION = load_site(ROOT, SITE).partition().slurm_name
NODE = f" {node_names(load_site(ROOT, SITE).default_partition, 1)[0][:-1]}"  # the beginning of their names
LAST_CELL = "gradient-tests"  # the first exercises of lab 01 are enough of a notebook
DEADLINE_S = 900  # for a machine that does much else
POLL_S = 0.5

pytestmark = pytest.mark.needs("slurmctld", "slurmdbd", "munged", "mariadb-install-db")

HOLD = """
import pathlib, time

end = time.monotonic() + 60
while pathlib.Path({file!r}).exists() and time.monotonic() < end:
    time.sleep(0.1)
"""
DEADLOCK = """
from coursekit import ranks

def train():
    import time
    import numpy as np
    import horovod.tensorflow as hvd
    hvd.init()
    if hvd.rank() == 0:
        hvd.allreduce(np.ones(2))
    time.sleep(3600)

ranks.run(train, num_ranks=2, timeout_s=2)
"""


class Failure(NamedTuple):
    """A script that fails, the code of the first explanation, and a part of the line it is recognised by."""

    body: str
    code: str
    evidence: str


PYTHON = sys.executable
TAKE_A_PORT = "import socket as s; a = s.create_server(('127.0.0.1', 0)); s.create_server(a.getsockname())"
MEMORY = "job.out-of-memory"
FAILURES = {
    "memory": Failure(f"{PYTHON} -c 'import time; data = bytearray(10**9); time.sleep(3600)'", MEMORY, " memory limit"),
    "array": Failure(f"ulimit -v 2000000; {PYTHON} -c 'import numpy; numpy.ones(10**9)'", MEMORY, "ArrayMemoryError"),
    "killed": Failure("kill -9 $$", "job.killed", "Slurm's exit code 0:9"),
    "child-killed": Failure("bash -c 'kill -9 $$'\nexit 137", "job.killed", "Killed"),
    "module": Failure("set -e; module load Horovod/9.9", "module.unknown", '"Horovod/9.9"'),
    "no-module": Failure("unset -f module; module load x", "module.no-command", "module: command not found"),
    "no-venv": Failure("exec gone/.venv/bin/coursekit execute 01", "venv.missing", ".venv/bin/coursekit: No such"),
    "no-program": Failure("srun gone", "program.missing", "execve(): gone: No such file"),
    "no-package": Failure(f"{PYTHON} -c 'import gone'", "package.missing", "No module named 'gone'"),
    "port": Failure(f'{PYTHON} -c "{TAKE_A_PORT}"', "port.taken", "Address already in use"),
    "step": Failure("srun --ntasks=999 hostname", "step.too-large", "Unable to create step for"),
    "mpi": Failure("srun --mpi=gone hostname", "mpi.no-plugin", "Invalid MPI type 'gone'"),
    "disk": Failure("echo words > /dev/full; exit 1", "disk.full", "No space left on device"),
    "deadlock": Failure(f"{PYTHON} deadlock.py", "collective.incomplete", "the deadline of 2 s passed"),
}


@pytest.fixture(scope="module")
def cluster():
    """Return a private Slurm with two nodes."""
    with Cluster(load_site(ROOT, SITE)) as started:
        yield started


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a checkout in which the beginning of lab 01 is solved; its last cell waits while a file `hold` exists."""
    root = tmp_path_factory.mktemp("course")
    for name in ("labs", "slurm", "solutions"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / ".venv").symlink_to(sys.prefix)
    (root / "deadlock.py").write_text(DEADLOCK)
    source = build_sources(root, select_labs(root, ["01"]))["01-sgd"]
    notebook = json.loads(source.read_text())
    names = [cell["id"] for cell in notebook["cells"]]
    notebook["cells"] = notebook["cells"][: names.index(LAST_CELL) + 1]
    hold = {"cell_type": "code", "id": "hold", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"].append({**hold, "source": HOLD.format(file=str(root / "hold"))})
    (root / "labs" / "01-sgd" / "01-sgd.ipynb").write_text(json.dumps(notebook))
    return root


@pytest.fixture(scope="module", autouse=True)
def _in_the_course(cluster, course):
    """Work in the checkout, with the private Slurm."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**cluster.environ, "COURSEKIT_NUM_RANKS": "2"}.items():
            patch.setenv(name, value)
        patch.chdir(course)
        yield


@pytest.fixture(autouse=True)
def _no_job_left(_in_the_course):
    """End what a test has submitted."""
    yield
    end_jobs()


class Story(NamedTuple):
    """What one job showed from its submission to its end."""

    submitted: str
    job: SubmittedJob
    waiting: str
    followed: str
    status: int


@pytest.fixture(scope="module")
def story(course, _in_the_course):
    """Return the story of a job that had to wait: submitted by one process and followed by another."""
    elsewhere = ("--chdir=/", "--output=/dev/null")
    blocker = queue(
        "--nodes=2", "--gpus-per-node=8", f"--partition={PARTITION}", "--time=60", *elsewhere, "--wrap=sleep 3600"
    )
    wait_for(lambda: look([blocker])[blocker].state == "RUNNING")
    command = [COURSEKIT, "submit", "01", "--site", SITE, "-p", "seed", "3"]
    submitted = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    waiting = wait_for(lambda: [row.words for row in list_jobs(course) if "(Resources)" in row.words])[0]
    (listed,) = list_jobs(course)
    (course / "hold").touch()
    with follow(listed.job.job_id) as following:
        followed = following.stdout.readline()
        subprocess.run(["scancel", blocker], check=True)
        for line in following.stdout:
            followed += line
            if NODE in line:  # the job ends in less time than passes between two questions to Slurm
                (course / "hold").unlink(missing_ok=True)
        return Story(submitted, listed.job, waiting, followed, following.wait())


def wait_for(found):
    """Return the first true value that a function gives."""
    deadline = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(POLL_S)
    return value


def end_jobs():
    """Cancel all jobs and wait until they are gone."""

    def there():
        command = ["squeue", "--noheader", "--format=%i"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    if jobs := there():
        subprocess.run(["scancel", *jobs], check=True)
    wait_for(lambda: not there())


def queue(*options):
    """Submit a script of one's own, with sbatch alone."""
    return subprocess.run(["sbatch", "--parsable", *options], check=True, capture_output=True, text=True).stdout.strip()


def points_of(notebook):
    """Return the points that a notebook's tests are worth, as nbgrader has them in its cells."""
    cells = json.loads(notebook.read_text())["cells"]
    return sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in cells)


def follow(job_id):
    """Start to follow a job, in a process that knows nothing but its number."""
    command = [COURSEKIT, "jobs", job_id, "--follow"]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ)


def end_of(job_id):
    """Return the last state of a job, when it has ended."""
    return wait_for(lambda: (state := look([job_id])[job_id]).ended and state)


def test_a_job_from_its_submission_to_its_points(course, story):
    """A job is submitted, waits for a reason, is found again by another process, runs, and ends with its points."""
    job, shown = story.job, story.followed
    assert [part for part in (job.job_id, f"slurm/jobs/{SITE}/01-sgd.sbatch") if part not in story.submitted] == []
    assert story.waiting.startswith(reason_of("Resources").words)
    points = points_of(course / "labs" / "01-sgd" / "01-sgd.ipynb")
    expected = (
        *(reason_of("Resources").words, NODE, "\nlab 1/1 01-sgd: cell 1/", " COMPLETED "),
        *(f" {points} / {points} points", f" jobs/01-sgd-{job.job_id}/01-sgd.ipynb."),
    )
    assert [part for part in expected if part not in shown] == []
    assert story.status == 0
    assert read_result(course, job).parameters["seed"] == 3
    listed = next(row for row in list_jobs(course) if row.job.job_id == job.job_id)
    assert (listed.state.state, listed.words) == ("COMPLETED", f"passed, {points} / {points} points")


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("SBATCH_ACCOUNT", "wrong", "account"),
        ("SBATCH_QOS", "gold", "qos"),
        ("SBATCH_CONSTRAINT", "gold", "constraint"),
        ("SBATCH_TIMELIMIT", "30-0", "time"),
        ("SBATCH_RESERVATION", "party", "reservation-unknown"),
        ("SBATCH_GPUS_PER_NODE", "9", "no-such-node"),
        ("SBATCH_MEM_PER_NODE", "9000G", "no-such-node"),
    ],
)
def test_a_refusal_is_explained(course, monkeypatch, variable, value, code):
    """What Slurm refuses at once is told in plain words, with Slurm's own; nothing is remembered of it."""
    before = list_jobs(course)
    monkeypatch.setenv(variable, value)
    with pytest.raises(CourseKitError) as refused:
        submit(["01"], SITE)
    assert refused.value.code == f"refused.{code}"
    assert list_jobs(course) == before


@pytest.mark.parametrize(
    "steering",
    [
        {"SLURM_TIME_FORMAT": "relative", "SQUEUE_FORMAT": "%i", "SACCT_FORMAT": "JobID"},
        {"SLURM_TIME_FORMAT": "%H:%M", "SQUEUE_STATES": "FAILED", "SLURM_BITSTR_LEN": "1"},
        {"SQUEUE_PARTITION": "debug", "SQUEUE_ACCOUNT": "other"},
        {"SQUEUE_NAMES": "foo", "SQUEUE_QOS": "gold", "SQUEUE_USERS": "nobody"},
        {"SBATCH_WAIT": "1", "SBATCH_ARRAY_INX": "0-3", "SBATCH_EXPORT": "NONE", "SCANCEL_STATE": "RUNNING"},
    ],
)
def test_variables_of_slurms_commands_steer_none_of_them(course, monkeypatch, steering):
    """A job is submitted, listed as it waits, and cancelled, whatever the caller's shell says of Slurm's commands."""
    for name, value in steering.items():
        monkeypatch.setenv(name, value)
    (job,) = submit(["01"], SITE, nodes=1)
    job_id = job.job_id
    (row,) = [row for row in list_jobs(course) if row.job.job_id == job_id]
    assert row.state.state in {"PENDING", "RUNNING"}
    state = look([job_id])[job_id]
    assert (state.name, state.folder) == ("01-sgd", str(course))
    datetime.fromisoformat(state.submitted)
    call("scancel", job_id)  # as a class that is graded by jobs ends them
    assert end_of(job_id).state == "CANCELLED"


def test_a_rendered_script(course):
    """Another partition and number of nodes make a script of their own, with the same name of the job."""
    site = load_site(ROOT, SITE)
    key = next(key for key in site.partitions if key != site.default_partition and site.partitions[key].has_gpus)
    (job,) = submit(["01"], SITE, partition=key, values={"seed": "7"})
    subprocess.run(["scancel", job.job_id], check=True)
    assert job.script == "jobs/01-sgd.sbatch"
    text = (course / job.script).read_text()
    assert {f"--partition={site.partitions[key].slurm_name}", "--job-name=01-sgd"} <= set(text.split())


def test_interrupted_and_cancelled(course):
    """Ctrl-C stops only the following; `sbatch` alone was enough to be listed; a cancelled job tells who did it."""
    job_id = queue("--hold", "slurm/jobs/karolina/02-horovod-sgd.sbatch")
    job = find_job(course, job_id)
    assert (job.name, job.lab, job.site) == ("02-horovod-sgd", "02-horovod-sgd", SITE)
    assert job.script == "slurm/jobs/karolina/02-horovod-sgd.sbatch"
    with follow(job_id) as following:
        assert "(JobHeldUser)" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert f"`coursekit jobs {job_id} --follow`" in following.stdout.read()
        assert following.wait() == 130
    assert look([job_id])[job_id].state == "PENDING"

    subprocess.run(["scancel", job_id], check=True)
    end_of(job_id)
    with follow(job_id) as following:
        ended, cause, evidence = following.stdout.read().strip().splitlines()
        assert [part for part in (job_id, "02-horovod-sgd", "CANCELLED") if part not in ended] == []
        assert (codes_in(cause), " root" in cause, "CANCELLED" in evidence) == (["job.cancelled"], True, True)
        assert following.wait() == 1


def test_arrays_and_names(course):
    """Each task of an array is a job with a log of its own; so is each part of a job of two kinds of nodes.

    A name may hold what also parts words and lines.
    """
    name = "a|b, ü\u2028[x]\nc"
    (course / "own.sbatch").write_text(
        "#!/bin/bash\n#SBATCH --output=%x-%j.out\necho task ${SLURM_ARRAY_TASK_ID:-}\nexit 7\n"
    )
    one_node = (f"--partition={PARTITION}", "--ntasks=1", "--gpus-per-node=1")
    array = queue(*one_node, "--array=1-5:2%1", f"--job-name={name}", "own.sbatch")
    parts = queue(*one_node, ":", *one_node, "--job-name=parts", "own.sbatch")
    held = queue(*one_node, "--hold", "--array=1-3,8%2", "own.sbatch")
    tasks = [f"{array}_{task}" for task in (1, 3, 5)]
    kept = [f"{held}_{task}" for task in (1, 2, 3, 8)]

    def listed(states):
        rows = {row.job.job_id: row for row in list_jobs(course) if row.job.job_id.startswith((array, parts, held))}
        return rows if [row.state.state for row in rows.values()] == states else None

    rows = wait_for(lambda: listed([*["FAILED"] * 5, *["PENDING"] * 4]))
    assert list(rows) == [*tasks, f"{parts}+0", f"{parts}+1", *kept]
    words = [row.words for row in rows.values()]
    assert words[:5] == ["task 1", "task 3", "task 5", "task", ""]
    assert {row.job.name for row in rows.values()} == {name, "parts", "own.sbatch"}
    assert all("JobHeldUser" in one for one in words[5:])

    subprocess.run(["scancel", held], check=True)
    # From accounting, as of any Slurm, which hears of it a moment later.
    wait_for(lambda: {look([task], {})[task].state for task in kept} == {"CANCELLED"})
    with follow(f"{array}_3") as following:
        shown = following.stdout.read()
        assert following.wait() == 1
    assert shown.startswith(f"task 3\n\nJob {array}_3 ({name}) ")
    with pytest.raises(CourseKitError, match=rf"{', '.join(tasks)}.*\[job\.ambiguous\]"):
        find_job(course, array)


def test_failures_are_recognised(course):
    """Failures that were really provoked are each explained first by what caused them."""
    directives = (
        "#!/bin/bash -l\n#SBATCH --output=%x-%j.out\n#SBATCH --time=30\n#SBATCH --ntasks=1\n#SBATCH --mem=300M\n"
    )
    ids = {}
    for name, failure in FAILURES.items():
        script = course / f"{name}.sbatch"
        # TensorFlow needs more than the little that makes a failure of memory quick.
        script.write_text(directives.replace("300M", "4G" if name == "deadlock" else "300M") + failure.body + "\n")
        ids[name] = queue(f"--job-name={name}", str(script))

    found = {}
    for name, job_id in ids.items():
        state, log = end_of(job_id), read_tail(course / f"{name}-{job_id}.out")
        first = explain(state, log)[:1]
        failure = FAILURES[name]
        is_right = first and first[0].code == failure.code and failure.evidence in first[0].evidence
        found[name] = failure if is_right else (state, first, log[-500:])
    assert found == FAILURES


def test_without_accounting(cluster, monkeypatch, tmp_path):
    """Where accounting is off, the controller itself tells how a job ended; nothing else changes."""
    text = (Path(cluster.environ["SLURM_CONF"])).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("AccountingStorage")]
    (tmp_path / "slurm.conf").write_text("\n".join(lines) + "\n")
    job_id = queue(f"--partition={PARTITION}", "--output=/dev/null", "--wrap=exit 7")
    complete = end_of(job_id)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    refused = subprocess.run(["sacct"], capture_output=True, text=True, check=False)
    assert "accounting storage is disabled" in refused.stderr

    state = look([job_id])[job_id]
    assert (state.state, state.nodes) == ("FAILED", complete.nodes)
