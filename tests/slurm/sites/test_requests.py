"""A real Slurm of a site's shape takes what the site's file asks for, and shows ranks the GPUs of their node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.jobs.render import render_job
from coursekit.slurm.rehearsal.cluster import Cluster
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile_text import account, request

ROOT = Path(__file__).parents[3]
# Sites with partitions that the committed scripts do not name, so that a rehearsal of those never comes here.
# Between them they have every way to ask for GPUs.
NAMES = ["daint-alps", "jean-zay", "karolina"]
LAB = "02-horovod-sgd"

pytestmark = [
    pytest.mark.needs("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a private Slurm needs root"),
]


@pytest.fixture(scope="module", params=NAMES)
def cluster(request):
    """Return a private Slurm of a site's shape, with two nodes of each kind."""
    with Cluster(load_site(ROOT, request.param), num_nodes=2) as started:
        yield started


def call(cluster, words: list[str], folder: Path, script: str = "") -> subprocess.CompletedProcess[str]:
    """Call a program of the cluster."""
    return subprocess.run(
        words,
        input=script,
        env={**os.environ, **cluster.environ},
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
        timeout=900,
    )


def test_every_partition_takes_its_request(cluster, tmp_path):
    """Nodes, GPUs, CPUs, constraint, account and QOS of a rendered script; `sbatch --test-only` says where."""
    verdicts = {}
    for key, partition in cluster.site.partitions.items():
        script = render_job(ROOT, cluster.site.name, "lab", LAB, partition=key)
        words = ["sbatch", "--test-only", f"--account={account(cluster.site, partition)}"]
        done = call(cluster, words, tmp_path, script)
        verdicts[key] = (done.returncode, done.stderr.strip().rpartition(" in partition ")[2])

    assert verdicts == {key: (0, partition.slurm_name) for key, partition in cluster.site.partitions.items()}


def test_every_rank_sees_all_gpus_of_its_node(cluster, tmp_path):
    """So that the labs' `gpus[hvd.local_rank()]` is there, on each of two nodes, in every partition."""
    seen, expected = {}, {}
    for key, partition in cluster.site.partitions.items():
        words = ["srun", "--nodes=2", f"--account={account(cluster.site, partition)}", *request(partition)]
        show = ["bash", "-c", "echo $SLURM_NODEID $SLURM_LOCALID $CUDA_VISIBLE_DEVICES"]
        done = call(cluster, [*words, *cluster.site.launch.srun_options, *show], tmp_path)
        seen[key] = (done.returncode, sorted(done.stdout.splitlines()))
        numbers = [str(number) for number in range(partition.num_gpus_per_node)]
        expected[key] = (0, [f"{node} {number} {','.join(numbers)}" for node in range(2) for number in numbers])

    assert seen == expected
