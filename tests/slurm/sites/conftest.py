"""A checkout with one made-up machine, and ways to spoil its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from coursekit.slurm.sites.load import load_site

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.slurm.sites.profile import Site

NAME = "nautilus"
TOML = """\
title = "Nautilus, Vulcania"
status = "current"
summary = "Two kinds of nodes under the sea."
default_partition = "deep"
num_nodes = 2
internet_on_nodes = false
billing_unit = "a node"

[access]
login = ["ssh USER@nautilus.example"]
account_example = "nemo"

[software]
shell = "#!/bin/bash -l"

[launch]
mpi = "pmix"
gpu_of_rank = "Every rank sees all GPUs of its node."

[storage]
scratch_variable = ""
dataset_variable = ""
imagenet = ""

[jupyter]
tunnel = "ssh -N -L {port}:{node}:{port} {user}@nautilus.example"

[partitions.deep]
slurm_name = "abyss"
requested = true
gpu = "Kraken 8"
cpu = "2 x Squid"
fabric = "Currents"
gpu_request = "gres"
num_gpus_per_node = 4
num_cpus_per_gpu = 8
num_cpus_per_node = 32
memory_gb = 256
num_nodes = 20
default_time_min = 90
max_time_min = 1440
directives = ["--constraint=cold&dark"]
features = ["cold", "dark"]
qos = ["dive"]

[partitions.test]
slurm_name = "shallow"
requested = true
gpu = "Kraken 8"
cpu = "2 x Squid"
fabric = "Currents"
gpu_request = "gres"
num_gpus_per_node = 4
num_cpus_per_gpu = 8
num_cpus_per_node = 32
memory_gb = 256
num_nodes = 20
default_time_min = 10
max_time_min = 30
features = ["cold", "dark"]
shares_nodes_with = "deep"

[qos.dive]
max_time_min = 600

[[confirm]]
key = "launch.mpi"
doubt = "nobody came back to tell"
command = "srun --mpi=list"
"""


@dataclass(frozen=True)
class Checkout:
    """A course checkout with one site."""

    root: Path

    @property
    def file(self) -> Path:
        """The site's file."""
        return self.root / "slurm" / "sites" / f"{NAME}.toml"

    def change(self, old: str, new: str) -> None:
        """Replace text that stands there once."""
        text = self.file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands there {text.count(old)} times"
        self.file.write_text(text.replace(old, new), encoding="utf-8")

    def load(self) -> Site:
        """Read the site."""
        return load_site(self.root, NAME)


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    """Return a checkout with the site nautilus."""
    (tmp_path / "slurm" / "sites").mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    made = Checkout(tmp_path)
    made.file.write_text(TOML, encoding="utf-8")
    return made
