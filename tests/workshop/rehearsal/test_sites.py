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


def test_the_sites_together_run_every_lab_and_every_way_of_a_script():
    """Each script for a lab's notebook runs somewhere, and so does each way of a script."""
    run, calls, called = set(), set(), set()
    for site in SITES:
        texts = {path.name: path.read_text() for path in (ROOT / "slurm" / "jobs" / site).glob("*.sbatch")}
        del texts["grade.sbatch"]
        here = one_of_each_form(texts, in_turn(texts, FIRST[site]))
        run |= here
        calls |= {calls_of(text) for text in texts.values()}
        called |= {calls_of(texts[name]) for name in here}
    assert {lab.name for lab in find_labs(ROOT)} <= {name.removesuffix(".sbatch") for name in run}
    assert calls - called <= {calls_of("")}  # JupyterLab's scripts, which have an answer of their own


def in_turn(scripts, first):
    """Return scripts in their order from a lab on, then those before it; from odd labs on, first those to train."""
    names = sorted(scripts, key=lambda name: name.removesuffix(".sbatch"))
    turned = [name for name in names if name >= first] + [name for name in names if name < first]
    return sorted(turned, key=lambda name: int(first) % 2 and not name.endswith("-train.sbatch"))


def one_of_each_form(texts, scripts):
    """Return the first scripts that together have all sets of options, all software, and all programs of a site.

    How a script meets its time limit is the same on all sites: one of them runs it.
    """
    options, software, programs, found = set(), set(), set(), set()
    for name in scripts:
        directives = frozenset(re.findall(r"^#SBATCH (--(?!time|job-name)\S+)", texts[name], re.MULTILINE))
        loaded = frozenset(re.findall(r"^(?:module load |venv=).*", texts[name], re.MULTILINE))
        program = "jupyter" if name == "jupyter.sbatch" else calls_of(texts[name])[0]
        if directives not in options or loaded not in software or program not in programs:
            found.add(name)
        options.add(directives)
        software.add(loaded)
        programs.add(program)
    return found


def calls_of(text):
    """Return what a script calls, and how it meets its time limit."""
    return tuple(re.findall(r"coursekit\" \w+|torchrun|trap \w+", text.partition("\nset ")[2]))
