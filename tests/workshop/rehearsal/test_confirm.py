"""`coursekit sites confirm` on a Slurm shaped like each site."""

import json
import re
import sys
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import load_site, site_names
from workshop.rehearsal.cluster import Cluster

from .conftest import NEEDS_SLURM, on

pytestmark = NEEDS_SLURM
ROOT = Path(__file__).parents[3]
# What a rehearsal has not: the fabric's interfaces, the machine's folders, images and SSH server.
NOT_ASKED = {
    "barbora": {"launch.interface", "storage", "jupyter.tunnel"},
    "daint-alps": {
        *("launch.interface", "launch.mpi", "partitions.normal.fabric"),
        *("software.notes", "software.pytorch.container"),
    },
    "jean-zay": {"partitions.h100.fabric", "storage.imagenet"},
    "karolina": {"launch.interface", "jupyter.tunnel"},
}
# And what it has otherwise: all its names are on loopback, and its containers have nothing of Horovod.
DIFFERENT = {"local": {"launch.interface"}, "daint-alps": {"software.container"}}


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the sites' files to change, and links to everything else."""
    for name in ("solutions", "labs", "pyproject.toml", "slurm/templates", "slurm/jobs", "slurm/edf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "slurm" / "sites").mkdir()
    for path in (ROOT / "slurm" / "sites").glob("*.toml"):
        (tmp_path / "slurm" / "sites" / path.name).write_text(path.read_text())
    return tmp_path


@pytest.mark.parametrize("name", site_names(ROOT))
def test_a_rehearsal_settles_what_it_knows_and_contradicts_what_is_wrong(name, checkout):
    """First the file as it is, with jobs on nodes; then with three faults, which are named with the right values."""
    file = checkout / "slurm" / "sites" / f"{name}.toml"
    site = load_site(checkout, name)
    partition = site.partition()
    with Cluster(site, num_nodes=1) as cluster:
        _, answers = confirm(cluster, checkout, name, "--job", "--account", site.access.account_example)
        assert keys(answers, "could not be asked") == NOT_ASKED.get(name, set()), answers
        assert keys(answers, "differs") == DIFFERENT.get(name, set()), answers
        right = {one["key"] for one in answers} - NOT_ASKED.get(name, set()) - DIFFERENT.get(name, set())

        file.write_text(with_faults(file.read_text(), site.default_partition))
        status, answers = confirm(cluster, checkout, name)
        key = f"partitions.{site.default_partition}.default_time_min"
        loads = {one for one in right | {"software.modules"} if one.endswith("modules") and "pytorch" not in one}
        known = {"partitions.renamed.modules", *DIFFERENT.get(name, set())}
        wrong = {key, *loads, "partitions.renamed.slurm_name"}
        assert (status, keys(answers, "differs") - known) == (1, wrong)
        assert next(one["set"] for one in answers if one["key"] == key) == str(partition.default_time_min)
        seen = next(one["seen"] for one in answers if one["key"] == "partitions.renamed.slurm_name")
        assert {*seen} == {one.slurm_name for one in site.partitions.values()}


def keys(answers, state):
    """Return the keys of the answers in a state."""
    return {one["key"] for one in answers if one["state"] == state}


def with_faults(text, key):
    """Return a site's file with three faults.

    Its default partition, which has this key, has another default time; a second one like it is called otherwise than
    in Slurm; and a module does not exist.
    """
    head, start, rest = text.partition(f"[partitions.{key}]\n")
    block, end, rest = rest.partition("\n[")
    renamed = re.sub("^slurm_name = .*", 'slurm_name = "renamed"', block, flags=re.MULTILINE)
    changed = re.sub("^default_time_min = .*", "default_time_min = 7", block, flags=re.MULTILINE)
    missing = 'modules = ["no/such-module"'
    if '\nmodules = ["' in head:
        head = head.replace('modules = ["', f'{missing}, "', 1)
    else:
        head = head.replace("[software]\n", f"[software]\n{missing}]\n", 1)
    return f"{head}{start}{changed}\n[partitions.renamed]\n{renamed}{end}{rest}"


def confirm(cluster, checkout, name, *options):
    """Run the command, and return its status and its answers."""
    words = [sys.executable, "-m", "coursekit", "sites", "confirm", name, *options]
    done = on(cluster, checkout, *words, COURSEKIT_ROOT=str(checkout))
    found = json.loads((checkout / "build" / "confirm" / f"{name}.json").read_text())
    # Whether a rehearsal reaches the internet depends on the computer that it runs on.
    answers = [one for one in found["answers"] if one["key"] != "internet_on_nodes"]
    return done.returncode, answers
