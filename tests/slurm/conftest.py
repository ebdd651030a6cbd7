"""What made-up machines have in common; the tests of a folder add what they are about."""

from __future__ import annotations

from pathlib import Path

from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.render import render
from coursekit.slurm.sites.load import load_site

# It ends in the table `[software]`, to which a machine may add keys.
MACHINE = """\
title = "{title}"
status = "current"
summary = "{summary}"
default_partition = "deep"
num_nodes = 2
internet_on_nodes = false
billing_unit = "a node"

[access]
login = ["ssh USER@{name}.example"]
account_example = "{account}"

[launch]
mpi = "pmix"
gpu_of_rank = "Every rank sees all GPUs of its node."

[storage]
scratch_variable = ""
dataset_variable = ""
imagenet = ""

[jupyter]
tunnel = "ssh -N -L {{port}}:{{node}}:{{port}} {{user}}@{name}.example"

[software]
shell = "#!/bin/bash -l"
"""
# Two partitions share these nodes. Each adds its name, its memory, and its limits.
NODES = """\
gpu = "Kraken 8"
cpu = "2 x Squid"
fabric = "Currents"
gpu_request = "gres"
num_gpus_per_node = 4
num_cpus_per_gpu = 8
num_cpus_per_node = 32
whole_nodes = false
num_nodes = 20
features = ["cold", "dark"]
"""


def write_site(root: Path, name: str, text: str) -> Path:
    """Write a machine's file into a checkout, and return where it is."""
    path = root / "slurm" / "sites" / f"{name}.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def render_job(root: Path, site: str, pattern: str, lab: str = "", partition: str = "", **wish: object) -> str:
    """Return a script for names of a site and a lab; see `JobScript` for what else may be wished."""
    chosen = select_labs(root, [lab])[0] if lab else None
    return render(root, JobScript(load_site(root, site), pattern, chosen, partition, **wish))
