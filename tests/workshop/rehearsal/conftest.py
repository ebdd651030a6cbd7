"""A made-up machine, a Slurm shaped like it for each module of tests, and ways to talk to it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster

from ...slurm.conftest import MACHINE, NODES, render_job, write_site

ROOT = Path(__file__).parents[3]
COMMAND_TIMEOUT_S = 900
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc")
NEEDS_SLURM = [pytest.mark.needs(*PROGRAMS), pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
NAME = "atlantis"
LAB = "01-sgd"
SUMMARY = "Two kinds of nodes, one of them in two partitions."
TOML = f"""\
{MACHINE.format(name=NAME, title="Atlantis, under the sea", summary=SUMMARY, account="NEMO-1")}\
before = ["module purge"]
modules = ["water", "Horovod/0.28.1-salt"]
after = ['export EDF_PATH="$PWD/slurm/edf"']
container = "--environment=coursekit"

[partitions.deep]
slurm_name = "abyss"
requested = false
{NODES}memory_gb = 64
default_time_min = 90
max_time_min = 1440
modules = ["pressure/2"]
account_suffix = "@deep"
qos = ["dive", "snorkel"]

[partitions.deep-test]
slurm_name = "abyss_test"
requested = true
{NODES}memory_gb = 64
max_num_nodes = 1
default_time_min = 10
max_time_min = 30
account_suffix = "@deep"
qos = ["snorkel"]
shares_nodes_with = "deep"

[partitions.caves]
slurm_name = "caves"
requested = false
gpu = "Eel"
cpu = ""
fabric = "Currents"
gpu_request = "gres"
num_gpus_per_node = 2
num_cpus_per_gpu = 4
num_cpus_per_node = 8
memory_gb = 32
whole_nodes = false
num_nodes = 5
default_time_min = 60
max_time_min = 120
features = ["narrow"]
account_suffix = "@caves"

[partitions.shore]
slurm_name = "shore"
requested = true
gpu = "Crab"
cpu = ""
fabric = "Currents"
gpu_request = "none"
num_gpus_per_node = 1
num_cpus_per_gpu = 12
num_cpus_per_node = 24
memory_gb = 48
whole_nodes = false
num_nodes = 5
default_time_min = 60
max_time_min = 120
features = ["sunny"]
partition_qos = "tide"

[qos.dive]
max_time_min = 600
max_num_gpus = 6

[qos.snorkel]
max_time_min = 20
max_num_jobs_per_user = 3

[qos.tide]
max_num_submitted_per_user = 2
"""
STUBBORN = (
    "trap '' TERM INT HUP; setsid sleep 3600 & nohup sleep 3600 & "
    "touch /dev/shm/$SLURM_JOB_ID; while :; do sleep 1; done"
)
HEAD = "#!/bin/bash\n#SBATCH --output=%x-%j.out\n"
OTHERS = {
    "good": f"{HEAD}#SBATCH --nodes=2 --job-name=good\necho fine\n",
    "bad": f"{HEAD}#SBATCH --job-name=bad\necho first\necho this went wrong\nexit 3\n",
    "refused": "#!/bin/bash\n#SBATCH --constraint=warm\necho never\n",
    # A job that does everything to outlive its Slurm, on each of two nodes, and as a script.
    "stubborn": f"{HEAD}#SBATCH --nodes=2\nsrun bash -c '{STUBBORN}' & {STUBBORN}\n",
    "unasked": f"{HEAD}#SBATCH --job-name=unasked\n",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder with the made-up machine's file, and nothing else."""
    root = tmp_path_factory.mktemp("checkout")
    write_site(root, NAME, TOML)
    return root


@pytest.fixture(scope="module")
def course(checkout):
    """A checkout with one lab, one site that is nothing but a file, and its job scripts."""
    shutil.copy(ROOT / "pyproject.toml", checkout)
    for name in (f"solutions/{LAB}", f"labs/{LAB}", "slurm/templates", "slurm/edf", "students"):
        shutil.copytree(ROOT / name, checkout / name)
    jobs = checkout / "slurm" / "jobs" / NAME
    jobs.mkdir(parents=True)
    (jobs / f"{LAB}.sbatch").write_text(render_job(checkout, NAME, "lab", LAB))
    (jobs / "jupyter.sbatch").write_text(render_job(checkout, NAME, "jupyter"))
    for name, text in OTHERS.items():
        (jobs / f"{name}.sbatch").write_text(text)
    return checkout


@pytest.fixture(scope="module")
def cluster(checkout):
    """A Slurm shaped like the made-up machine, with two nodes of each kind."""
    with Cluster(load_site(checkout, NAME), num_nodes=2) as running:
        yield running


@pytest.fixture
def slurm(cluster, tmp_path):
    """Run a command on the module's Slurm from a folder of the test's own."""
    return lambda *words, **variables: on(cluster, tmp_path, *words, **variables)


def on(cluster, folder, *words, **variables):
    """Run a command on a Slurm, and return how it ended."""
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **cluster.environ, "SLURM_ACCOUNT": cluster.environ["SBATCH_ACCOUNT"], **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_TIMEOUT_S,
    )
