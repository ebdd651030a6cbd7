"""`coursekit sites` lists and shows machines."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from coursekit.cli import cli

SHOWN = """\
Nautilus, Vulcania (nautilus, current)
Two kinds of nodes under the sea.
Charged: a node.

Access
  ssh USER@nautilus.example
  export SBATCH_ACCOUNT=nemo # yours in its place
  sbatch slurm/jobs/nautilus/LAB.sbatch

Cost
  solutions: no GPU hours
  grade: at most 1 GPU hour for a run (1 GPU for 1 h)
  jupyter: at most 2 GPU hours for a student (2 GPUs for 1 h), 60 GPU hours for a class of 30

Partitions
  deep (default): abyss in Slurm
    - GPUs of a node: 4 x Kraken 8
    - a node: 32 CPUs, 256 GB
    - processors: 2 x Squid
    - fabric: Currents
    - a rank: 8 CPUs
    - size: 20 nodes
    - time: at most 24 h; 1 h 30 min for jobs that do not say
    - account: nemo
    - QOS: dive
    --partition=abyss --constraint=cold&dark --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=8
  test: shallow in Slurm
    - GPUs of a node: 4 x Kraken 8
    - a node: 32 CPUs, 256 GB
    - processors: 2 x Squid
    - fabric: Currents
    - a rank: 8 CPUs
    - size: 20 nodes
    - time: at most 30 min; 10 min for jobs that do not say
    - account: nemo
    --partition=shallow --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=8

QOS
  - dive: 10 h

Software

Ranks
  srun --mpi=pmix python train.py
  - Ranks of a notebook meet by Gloo, or by MPI if Horovod lacks Gloo.
  - Every rank sees all GPUs of its node.

Files
  - Compute nodes do not reach the internet.

JupyterLab
  ssh -N -L {port}:{node}:{port} {user}@nautilus.example

To be confirmed on the machine
  - launch.mpi: nobody came back to tell.
    srun --mpi=list
"""


@pytest.fixture
def sites(checkout, monkeypatch):
    """Return a function that runs `coursekit sites` in a checkout with one site and returns what it prints."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout.root))

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["sites", *words], catch_exceptions=False).output

    return run


def test_a_site_is_shown_with_what_is_in_doubt(sites):
    """Everything that the file says, and what to type on the machine to know more."""
    assert sites("show", "nautilus") == SHOWN


def test_what_is_not_known_of_a_node_is_said(sites, checkout):
    """An empty processor or fabric is shown as such, not left out."""
    text = checkout.file.read_text(encoding="utf-8").replace('"2 x Squid"', '""').replace('"Currents"', '""')
    checkout.file.write_text(text, encoding="utf-8")

    lines = [line.strip() for line in sites("show", "nautilus").splitlines()]

    assert (lines.count("- processors: not known"), lines.count("- fabric: not known")) == (2, 2)


def test_sites_are_listed_with_their_partitions(sites, checkout):
    """Title and status, and below them the GPUs of each partition."""
    twin = checkout.file.read_text(encoding="utf-8").replace("current", "retired").replace("Nautilus", "Argonaut")
    checkout.file.with_name("argonaut.toml").write_text(twin, encoding="utf-8")

    rows = [line.split() for line in sites().splitlines() if line.strip()]

    assert rows[0] == ["site", "machine", "and", "its", "partitions", "status,", "GPUs", "of", "a", "node"]
    assert rows[2:] == [
        ["argonaut", "Argonaut,", "Vulcania", "retired"],
        ["deep", "(default)", "4", "x", "Kraken", "8"],
        ["test", "4", "x", "Kraken", "8"],
        ["nautilus", "Nautilus,", "Vulcania", "current"],
        ["deep", "(default)", "4", "x", "Kraken", "8"],
        ["test", "4", "x", "Kraken", "8"],
    ]
