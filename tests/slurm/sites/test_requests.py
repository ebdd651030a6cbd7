"""A real Slurm of a site's shape takes what the site's file asks for, and shows ranks the GPUs of their node."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import account, request
from workshop.rehearsal.cluster import Cluster

from ..conftest import render_job

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


def test_a_lab_can_be_spread_over_two_nodes(cluster, tmp_path):
    """The options that its script names take the place of its directives."""
    kind = cluster.site.partitions[cluster.site.default_partition]
    script = (ROOT / "slurm" / "jobs" / cluster.site.name / f"{LAB}.sbatch").read_text()
    options = re.search(r"^# One rank on each of two nodes: sbatch (.*) slurm/", script, re.MULTILINE)[1].split()
    words = ["sbatch", "--wait", f"--account={account(cluster.site, kind)}", "--time=5", *options]
    head, _, _ = script.partition("\nset -euo")
    show = "srun bash -c 'echo $SLURM_PROCID $SLURM_LOCALID $SLURM_NTASKS'"

    done = call(cluster, [*words, f"--output={tmp_path}/log", "--error=/dev/null"], tmp_path, f"{head}\n{show}\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["0 0 2", "1 0 2"]


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
