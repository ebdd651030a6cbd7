"""`ranks.run` inside a real allocation of two nodes, as at the sites."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE
from coursekit.ranks.persistent import KEPT
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 900
ALLOCATION = ("salloc", "--quiet", "--nodes=2", "--ntasks-per-node=2", "--cpus-per-task=2")

# Every rank knows its own number only: the sums prove that all have talked.
PROGRAM = """
import json, os, time
import numpy as np
from coursekit import ranks

def place():
    import horovod.tensorflow as hvd
    hvd.init()
    total = float(hvd.allreduce(np.float32(10.0 ** hvd.rank()), op=hvd.Sum).numpy())
    places = hvd.rank(), hvd.size(), hvd.local_rank(), os.environ["SLURMD_NODENAME"]
    return *places, total, os.environ["HOME"]

def fail():
    import horovod.tensorflow as hvd
    hvd.init()
    if hvd.rank() == 1:
        raise ValueError("own words")
    hvd.allreduce(np.zeros(1))

def stall():
    import horovod.tensorflow as hvd
    hvd.init()
    if hvd.rank() == 0:
        hvd.allreduce(np.zeros(1), name="alone")
    time.sleep(900)  # wall-clock time; the deadline counts corrected time, which a busy machine stretches

found = {"places": [ranks.run(place, num_ranks=count, show_output=False) for count in (2, 4, 1)]}
for name, function, error in (("failure", fail, ranks.RankError), ("stall", stall, ranks.RankTimeoutError)):
    try:
        ranks.run(function, num_ranks=2, timeout_s=10, show_output=False)
    except error as caught:
        found[name] = caught.code, str(caught)
found["after"] = ranks.run(place, num_ranks=2, show_output=False)

def remember(namespace):
    namespace["mine"] = place()

def fail_alone(namespace):
    if namespace["mine"][0] == 1:
        raise ValueError("own words")

with ranks.start(4) as there:
    there.cell(remember)
    try:
        there.cell(fail_alone)
    except ranks.RankError as caught:
        found["kept"] = caught.code, str(caught)
    found["stayed"] = ranks.pull("mine")
print("found:", json.dumps(found))
"""


@pytest.fixture(scope="module")
def cluster():
    """A Slurm with two nodes."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with Cluster(load_site(ROOT, "karolina")) as running:
        yield running


def environ_of(cluster):
    """Return the variables by which commands find the cluster, and the account to use."""
    return {**cluster.environ, "SALLOC_ACCOUNT": cluster.environ["SBATCH_ACCOUNT"]}


# Each changes what srun does, or what its tasks get to know.
EXPORTED = {
    "SLURM_EXPORT_ENV": "NONE",
    "SLURM_MEM_PER_CPU": "10",
    "SLURM_MEM_PER_NODE": "100000",
    "SLURM_NTASKS_PER_NODE": "1",
    "SLURM_CPU_BIND": "nonsense",
    "SLURM_TIMELIMIT": "99999",
    "SLURM_TRES_PER_TASK": "cpu:64",
}


def run(program, command, environ):
    """Return what a program says in the line that begins with `found: `."""
    done = subprocess.run(
        [*command, sys.executable, "-c", program],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **environ},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("found: ")), "")
    assert line, done.stdout + done.stderr
    return json.loads(line.removeprefix("found: "))


@pytest.mark.needs("slurmctld", "mpirun")
@pytest.mark.parametrize("controller", ["gloo", "mpi"])
def test_ranks_are_tasks_on_all_nodes(cluster, controller):
    """Places and sums of 2, 4 and 1 ranks that Gloo joins, or MPI by stubs of another step.

    A failure and a stall are explained as on one machine; then all is well.

    Persistent ranks keep their places and variables, too. Variables of `srun` that the caller has exported come to no
    step, and its tasks have the caller's environment.
    """
    exported = [f"{name}={value}" for name, value in EXPORTED.items()]
    found = run(PROGRAM, [*ALLOCATION, "env", *exported], {**environ_of(cluster), CONTROLLER_VARIABLE: controller})
    (first, second), home = cluster.nodes[cluster.site.default_partition], os.environ["HOME"]
    two = [[0, 2, 0, first, 11.0, home], [1, 2, 0, second, 11.0, home]]
    four = [[rank, 4, rank % 2, (first, second)[rank // 2], 1111.0, home] for rank in range(4)]
    assert found["places"] == [two, four, [[0, 1, 0, first, 1.0, home]]]
    assert found["failure"][0] == "rank.raised"
    assert "own words" in found["failure"][1]
    assert found["stall"][0] == "ranks.deadline"
    assert "rank 0 waits in hvd.allreduce" in found["stall"][1]
    assert found["after"] == two
    assert found["kept"][0] == "rank.raised"
    assert KEPT in found["kept"][1]
    assert found["stayed"] == four


REFUSED = """
import json
from coursekit import ranks

try:
    ranks.run(abs, -1)
except ranks.RankError as error:
    print("found:", json.dumps([error.code, str(error)]))
"""


@pytest.mark.needs("slurmctld")
def test_a_job_that_has_ended_is_named(cluster):
    """A shell outlives its allocation: the job's number and the way out are told."""
    code, said = run(REFUSED, [], {**environ_of(cluster), "SLURM_JOB_ID": "987654", "SLURM_NTASKS": "2"})
    assert code == "srun.not-started"
    assert "987654" in said
