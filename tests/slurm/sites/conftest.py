"""A checkout with one made-up machine, and ways to spoil its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import Site

from ..conftest import MACHINE, NODES, write_site

NAME = "nautilus"
TOML = f"""\
{MACHINE.format(name=NAME, title="Nautilus, Vulcania", summary="Two kinds of nodes under the sea.", account="nemo")}
[partitions.deep]
slurm_name = "abyss"
requested = true
{NODES}memory_gb = 256
default_time_min = 90
max_time_min = 1440
directives = ["--constraint=cold&dark"]
qos = ["dive"]

[partitions.test]
slurm_name = "shallow"
requested = true
{NODES}memory_gb = 256
default_time_min = 10
max_time_min = 30
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
    """A course checkout with one site, and the site's file."""

    root: Path
    file: Path

    def change(self, old: str, new: str) -> None:
        """Replace text where it stands first."""
        text = self.file.read_text(encoding="utf-8")
        assert old in text
        self.file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def load(self) -> Site:
        """Read the site."""
        return load_site(self.root, NAME)


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    """Return a checkout with the site nautilus."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    return Checkout(tmp_path, write_site(tmp_path, NAME, TOML))
