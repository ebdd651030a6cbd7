"""Every committed job script of every site, submitted unmodified to a Slurm shaped like the site."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.labs.lab import find_labs
from coursekit.slurm.sites.load import site_names

from .conftest import PROGRAMS

ROOT = Path(__file__).parents[3]
NUM_NODES = 4  # for two trainings of two nodes at a time
# What a notebook does after its first ranks is the same on every site, and so is what one lab's script does and
# another's not: of the scripts that differ in their lab alone each site runs another one, and together they run all.
SITES = site_names(ROOT)
FIRST = {site: f"{number:02}" for number, site in enumerate(SITES, start=2)}  # lab 01 has a form of its own


@pytest.mark.needs(*PROGRAMS, "mpicc")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("site", SITES)
def test_every_script_completes(site):
    """Slurm takes every script, and of each form one completes; JupyterLab answers."""
    report = ROOT / "build" / "rehearsal" / f"{site}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    texts = {path.name: path.read_text() for path in (ROOT / "slurm" / "jobs" / site).glob("*.sbatch")}
    scripts = in_turn(texts.keys() - {"grade.sbatch"}, FIRST[site])
    words = ["rehearse", "--site", site, "--nodes", str(NUM_NODES), "--json", str(report), "--quick", *scripts]
    done = subprocess.run(
        [sys.executable, "-m", "workshop", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert report.exists(), done.stdout + done.stderr
    jobs = {job["script"]: job for job in json.loads(report.read_text())["jobs"]}
    run = one_of_each_form(texts, scripts)
    good = {name: "COMPLETED" if name in run else "ACCEPTED" for name in scripts}
    good |= {name: "ANSWERED" for name in scripts if name == "jupyter.sbatch"}  # sites with a JupyterHub have none
    assert {name: job["state"] for name, job in jobs.items()} == good, done.stdout.partition("The end of what")[2]
    spread = {name for name, job in jobs.items() if "[" in job["nodes"]}
    assert spread == {name for name in run if not re.search("^#SBATCH --nodes=1\\b", texts[name], re.MULTILINE)}
    assert done.returncode == 0


def test_the_sites_together_run_the_notebook_of_every_lab():
    """Each script for a lab's notebook is the first of its form somewhere."""
    run = set()
    for site in SITES:
        texts = {path.name: path.read_text() for path in (ROOT / "slurm" / "jobs" / site).glob("*.sbatch")}
        run |= one_of_each_form(texts, in_turn(texts, FIRST[site]))
    assert {lab.name for lab in find_labs(ROOT)} <= {name.removesuffix(".sbatch") for name in run}


def in_turn(scripts, first):
    """Return scripts in their order, from a lab on, and then those before it."""
    names = sorted(scripts, key=lambda name: name.removesuffix(".sbatch"))
    return [name for name in names if name >= first] + [name for name in names if name < first]


def one_of_each_form(texts, scripts):
    """Return the first script of each set of options, software, commands and answer to the time limit."""
    forms = {}
    for name in scripts:
        directives = re.findall(r"^#SBATCH (--(?!time|job-name)\S+)", texts[name], re.MULTILINE)
        command = re.findall(
            r"coursekit\" \w+|jupyter|srun|torchrun|--mpi|trap \w+|^module load .*|^venv=.*",
            texts[name].partition("\nset ")[2],
            re.MULTILINE,
        )
        forms.setdefault((*directives, *command), name)
    return set(forms.values())
