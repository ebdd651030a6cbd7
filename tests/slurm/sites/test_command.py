"""`coursekit sites` lists, shows and checks machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[3]
SHOWN = """\
Nautilus, Vulcania (nautilus, current)
Two kinds of nodes under the sea.
Charged: a node.

Access
  ssh USER@nautilus.example
  export SBATCH_ACCOUNT=nemo # yours in its place
  sbatch slurm/jobs/nautilus/LAB.sbatch

Cost
  GPU hours at most: of one job, and of one for each of 30 students
  solutions  8 GPUs for 0 min     0
  grade      1 GPU for 1 h        1
  jupyter    2 GPUs for 1 h       2    60

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
  dive: 10 h

Software

Ranks ?1
  srun --mpi=pmix python train.py
  - Ranks of a notebook meet over Gloo, or over MPI where Horovod has no Gloo.
  - Every rank sees all GPUs of its node.

Files
  - Compute nodes do not reach the internet.

JupyterLab
  ssh -N -L {port}:{node}:{port} {user}@nautilus.example

To be confirmed on the machine
  ?1 launch.mpi: nobody came back to tell.
    srun --mpi=list
"""


@pytest.fixture
def sites(checkout, monkeypatch):
    """Return a function that runs `coursekit sites` in a checkout with one site and returns what it prints."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout.root))

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["sites", *words], catch_exceptions=False).output

    return run


def test_a_site_is_shown_with_marks_on_what_is_in_doubt(sites):
    """Everything that the file says, and what to type on the machine to know more."""
    assert sites("show", "nautilus") == SHOWN


def test_the_cost_of_a_class_counts_its_students(monkeypatch):
    """GPU hours of the labs, for as many students as are said."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(ROOT))
    shown = CliRunner().invoke(cli, ["sites", "show", "karolina", "--class-size", "12"], catch_exceptions=False).output

    rows = [line.split() for line in shown.splitlines()]
    costs = {row[0]: int(row[-1]) for row in rows if "GPUs" in row and row[-1].isdigit()}
    on_gpus = [lab for lab in find_labs(ROOT) if lab.resources.num_ranks > 1]
    assert len(on_gpus) > 2
    for lab in on_gpus:
        asked = {lab.name: lab.resources.num_ranks, f"{lab.name}-train": 16}  # GPUs
        for name in asked.keys() & costs.keys():
            assert costs[name] == round(12 * asked[name] * lab.resources.time_limit_min / 60)
    assert {lab.name for lab in on_gpus} | {"03-keras-cnn-train"} <= costs.keys()


def test_a_doubt_is_marked_where_it_belongs(sites, checkout):
    """On a line of a partition, on a partition, or on a whole part."""
    more = "".join(
        f'\n[[confirm]]\nkey = "{key}"\ndoubt = "x"\ncommand = "y"\n'
        for key in ("partitions.deep.memory_gb", "partitions.test", "partitions", "storage", "internet_on_nodes")
    )
    checkout.file.write_text(checkout.file.read_text(encoding="utf-8") + more, encoding="utf-8")

    lines = sites("show", "nautilus").splitlines()

    assert [line.strip() for line in lines if " ?" in line and not line.startswith("  ?")] == [
        "Partitions ?4",
        "- a node: 32 CPUs, 256 GB ?2",
        "test: shallow in Slurm ?3",
        "Ranks ?1",
        "Files ?5",
        "- Compute nodes do not reach the internet. ?6",
    ]


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


def test_check_reads_all_sites_or_one(sites, checkout):
    """A good file gets a line; a wrong one a sentence, unless another one was asked for."""
    line = "slurm/sites/nautilus.toml: 2 partitions, 1 to be confirmed on the machine\n"
    assert (sites("check"), sites("check", "nautilus")) == (line, line)

    checkout.file.with_name("titanic.toml").write_text("depth = 3800\n", encoding="utf-8")

    assert sites("check", "nautilus") == line
    with pytest.raises(CourseKitError, match=r"slurm/sites/titanic\.toml: unknown key\(s\) \['depth'\]"):
        sites("check")


def test_an_unknown_site_is_refused_with_those_there_are(sites):
    """The sentence names the folder and the files in it."""
    with pytest.raises(CourseKitError, match=r"there is no site 'titanic': slurm/sites/ has nautilus\."):
        sites("show", "titanic")
