"""A real Slurm of a site's shape takes what the site's file asks for, in every partition."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coursekit.jobs.render import render_job
from coursekit.rehearsal.cluster import Cluster
from coursekit.sites.load import load_site
from coursekit.sites.words import account

ROOT = Path(__file__).parents[2]
# Sites with partitions that the committed scripts do not name: the rehearsal of those never comes here.
NAMES = ["daint-alps", "jean-zay", "karolina"]

pytestmark = [
    pytest.mark.needs("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a private Slurm needs root"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_partition_takes_its_request(name, tmp_path):
    """Nodes, GPUs, CPUs, constraint, account and QOS of a rendered script; `sbatch --test-only` says where."""
    site = load_site(ROOT, name)
    verdicts = {}
    with Cluster(site, num_nodes=2) as cluster:
        for key, partition in site.partitions.items():
            environ = {**os.environ, **cluster.environ, "SBATCH_ACCOUNT": account(site, partition)}
            script = render_job(ROOT, name, "lab", "02-horovod-sgd", partition=key)
            done = subprocess.run(
                ["sbatch", "--test-only"],
                input=script,
                env=environ,
                cwd=tmp_path,
                text=True,
                capture_output=True,
                check=False,
                timeout=60,
            )
            verdicts[key] = (done.returncode, done.stderr.split()[-1])

    assert verdicts == {key: (0, partition.slurm_name) for key, partition in site.partitions.items()}
