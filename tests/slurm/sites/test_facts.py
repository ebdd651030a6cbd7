"""The committed profiles: they load, agree with what the centres document, and hold no command that a shell refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site, load_sites, site_names
from coursekit.slurm.sites.profile_text import request

ROOT = Path(__file__).parents[3]
NAMES = ["barbora", "daint-alps", "jean-zay", "karolina", "local", "piz-daint"]
# What the operators' own documents say: GPUs of a node, CPUs of a rank, CPUs of a node (None: not said for Slurm).
DOCUMENTED = {
    ("piz-daint", "normal"): (1, 12, 24),
    ("daint-alps", "normal"): (4, 72, 288),
    ("daint-alps", "debug"): (4, 72, 288),
    ("jean-zay", "v100"): (4, 10, 40),
    ("jean-zay", "v100-8"): (8, 3, 24),
    ("jean-zay", "a100"): (8, 8, 64),
    ("jean-zay", "h100"): (4, 24, 96),
    ("karolina", "qgpu"): (8, 16, 128),
    ("karolina", "qgpu_exp"): (8, 16, 128),
    ("barbora", "qgpu"): (4, 6, 24),
}
# How a whole node is asked for.
REQUESTS = {
    ("piz-daint", "normal"): "--constraint=gpu --ntasks-per-core=1 --ntasks-per-node=1 --cpus-per-task=12",
    ("daint-alps", "debug"): "--partition=debug --gpus-per-node=4 --ntasks-per-node=4 --cpus-per-task=72",
    ("jean-zay", "v100"): "--hint=nomultithread --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=10",
    ("jean-zay", "v100-8"): (
        "--partition=gpu_p2 --hint=nomultithread --gres=gpu:8 --ntasks-per-node=8 --cpus-per-task=3"
    ),
    ("jean-zay", "a100"): ("--constraint=a100 --hint=nomultithread --gres=gpu:8 --ntasks-per-node=8 --cpus-per-task=8"),
    ("jean-zay", "h100"): (
        "--constraint=h100 --hint=nomultithread --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=24"
    ),
    ("karolina", "qgpu"): "--partition=qgpu --gpus-per-node=8 --ntasks-per-node=8 --cpus-per-task=16",
}
# Default and longest time in minutes, and the most nodes of a job (0: no limit of its own).
LIMITS = {
    ("daint-alps", "debug"): (30, 30, 2),
    ("jean-zay", "v100"): (10, 6000, 0),
    ("jean-zay", "v100-8"): (10, 6000, 0),
}
# What the network of the nodes is called ('': not found).
FABRICS = {
    ("piz-daint", "normal"): "Cray Aries",
    ("daint-alps", "normal"): "HPE Slingshot",
    ("jean-zay", "v100"): "Omni-Path",
    ("jean-zay", "v100-8"): "Omni-Path",
    ("jean-zay", "h100"): "",
    ("karolina", "qgpu"): "InfiniBand",
    ("barbora", "qgpu"): "InfiniBand",
}


def test_every_site_loads():
    """The files are complete, and their parts fit each other."""
    assert site_names(ROOT) == NAMES
    assert [site.name for site in load_sites(ROOT)] == NAMES


@pytest.mark.parametrize(("site", "partition"), DOCUMENTED)
def test_nodes_are_as_documented(site, partition):
    """GPUs of a node, CPUs of a rank, CPUs of a node."""
    read = load_site(ROOT, site).partitions[partition]

    assert (read.num_gpus_per_node, read.num_cpus_per_gpu, read.num_cpus_per_node) == DOCUMENTED[site, partition]


@pytest.mark.parametrize(("site", "partition"), REQUESTS)
def test_nodes_are_asked_for_as_documented(site, partition):
    """A constraint at Piz Daint, gres at Jean Zay, GPUs per node elsewhere."""
    assert " ".join(request(load_site(ROOT, site).partitions[partition])) == REQUESTS[site, partition]


@pytest.mark.parametrize(("site", "partition"), LIMITS)
def test_limits_are_as_documented(site, partition):
    """Times, and nodes of a job."""
    read = load_site(ROOT, site).partitions[partition]

    assert (read.default_time_min, read.max_time_min, read.max_num_nodes) == LIMITS[site, partition]


def test_whole_nodes_are_charged_where_documented():
    """CSCS and Barbora give whole nodes; Jean Zay gives GPUs, Karolina eighths of a node."""
    whole = {site.name: {kind.whole_nodes for kind in site.partitions.values()} for site in load_sites(ROOT)}

    assert {name for name, kinds in whole.items() if kinds == {True}} == {"barbora", "daint-alps", "piz-daint"}
    assert {name for name, kinds in whole.items() if kinds == {False}} == {"jean-zay", "karolina", "local"}


@pytest.mark.parametrize(("site", "partition"), FABRICS)
def test_fabrics_are_as_documented(site, partition):
    """The network is what its operator or the courses there name; what nobody names is empty and in doubt."""
    read = load_site(ROOT, site)
    fabric = read.partitions[partition].fabric

    assert fabric.startswith(FABRICS[site, partition])
    assert fabric or f"partitions.{partition}.fabric" in {note.key for note in read.confirm}


def test_what_a_node_sends_is_as_documented():
    """In Gbit/s: the links that are named times their speed; 0 where no speed is published, or no number of links."""
    sites = load_sites(ROOT)
    known = {(site.name, key): kind.fabric_gbit_per_s for site in sites for key, kind in site.partitions.items()}

    assert known == {
        ("barbora", "qgpu"): 2 * 100,
        ("daint-alps", "normal"): 4 * 200,
        ("daint-alps", "debug"): 4 * 200,
        ("jean-zay", "v100"): 4 * 100,
        ("jean-zay", "v100-8"): 0,
        ("jean-zay", "a100"): 4 * 100,
        ("jean-zay", "h100"): 0,
        ("karolina", "qgpu"): 4 * 200,
        ("karolina", "qgpu_exp"): 4 * 200,
        ("local", "main"): 0,
        ("piz-daint", "normal"): 80,  # Aries: about 10 GB/s into the network
    }


def test_accounts_of_jean_zay_follow_the_gpu():
    """A project has hours for each kind of GPU."""
    suffixes = {key: partition.account_suffix for key, partition in load_site(ROOT, "jean-zay").partitions.items()}

    assert suffixes == {"v100": "@v100", "v100-8": "@v100", "a100": "@a100", "h100": "@h100"}


def test_piz_daint_is_that_of_the_course_of_2019():
    """Modules, and NCCL on Aries."""
    site = load_site(ROOT, "piz-daint")

    assert site.status == "retired"
    assert site.software.modules == ("daint-gpu", "Horovod/0.16.0-CrayGNU-18.08-tf-1.12.0")
    assert dict(site.software.environment) == {
        "NCCL_DEBUG": "INFO",
        "NCCL_IB_HCA": "ipogif0",
        "NCCL_IB_CUDA_SUPPORT": "1",
    }


def test_only_alps_of_the_centres_reaches_the_internet():
    """Elsewhere, everything is fetched before the job."""
    assert [site.name for site in load_sites(ROOT) if site.internet_on_nodes] == ["daint-alps", "local"]


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_understands_every_command(name):
    """What is printed to be typed, and what scripts hold."""
    site = load_site(ROOT, name)
    lines = [*site.access.login, *site.software.before, *site.software.after, *(c.command for c in site.confirm)]

    done = subprocess.run(["bash", "-n"], input="\n".join(lines), text=True, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_of_alps_is_there():
    """`--environment=coursekit` names a file that the checkout has, with the keys that the Container Engine knows."""
    from coursekit.toml_files import tomllib

    site = load_site(ROOT, "daint-alps")
    edf = tomllib.loads((ROOT / "slurm" / "edf" / "coursekit.toml").read_text(encoding="utf-8"))

    assert site.software.srun_options == ("--environment=coursekit",)
    assert site.software.after[0].startswith('export EDF_PATH="${EDF_PATH:-$PWD/slurm/edf}"')
    assert set(edf) <= {
        "image",
        "mounts",
        "workdir",
        "writable",
        "entrypoint",
        "base_environment",
        "env",
        "annotations",
    }
    assert edf["annotations"]["com"]["hooks"]["aws_ofi_nccl"] == {"enabled": "true", "variant": "cuda-dl"}
