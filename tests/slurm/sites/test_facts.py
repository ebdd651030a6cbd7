"""The committed profiles: what programs compute with is as documented, and a shell understands every command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site, load_sites, site_names
from coursekit.slurm.sites.profile import request
from coursekit.toml_files import tomllib

ROOT = Path(__file__).parents[3]
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


@pytest.mark.parametrize(("site", "partition"), REQUESTS)
def test_nodes_are_asked_for_as_documented(site, partition):
    """A constraint at Piz Daint, gres at Jean Zay, GPUs per node elsewhere."""
    assert " ".join(request(load_site(ROOT, site).partitions[partition])) == REQUESTS[site, partition]


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


def test_a_fabric_that_nobody_names_is_in_doubt():
    """It is empty, and what to type on the machine stands in the list of doubts; a single node has none."""
    doubted = {(site.name, note.key) for site in load_sites(ROOT) for note in site.confirm}
    empty = {
        (site.name, f"partitions.{key}.fabric")
        for site in load_sites(ROOT)
        for key, kind in site.partitions.items()
        if not kind.fabric and kind.num_nodes != 1
    }

    assert empty
    assert empty <= doubted


@pytest.mark.parametrize("name", site_names(ROOT))
def test_a_shell_understands_every_command(name):
    """What is printed to be typed, and what scripts hold."""
    site = load_site(ROOT, name)
    lines = [*site.access.login, *site.software.before, *site.software.after, *(c.command for c in site.confirm)]

    done = subprocess.run(["bash", "-n"], input="\n".join(lines), text=True, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_of_alps_is_there():
    """`--environment=coursekit` names a file that the checkout has, with the keys that the Container Engine knows."""
    site = load_site(ROOT, "daint-alps")
    edf = tomllib.loads((ROOT / "slurm" / "edf" / "coursekit.toml").read_text(encoding="utf-8"))

    assert site.software.srun_options == ("--environment=coursekit",)
    assert site.software.after[0].startswith('export EDF_PATH="${EDF_PATH:-$PWD/slurm/edf}"')
    known = "image mounts workdir writable entrypoint base_environment env annotations"
    assert set(edf) <= set(known.split())
    assert edf["annotations"]["com"]["hooks"]["aws_ofi_nccl"] == {"enabled": "true", "variant": "cuda-dl"}
