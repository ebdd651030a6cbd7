"""The committed profiles: what programs compute with is as documented, and a shell understands every command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site, load_sites, site_names

ROOT = Path(__file__).parents[3]


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
