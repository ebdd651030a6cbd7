"""Every committed job script of every site, submitted unmodified to a Slurm shaped like the site."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.slurm.sites.load import site_names

ROOT = Path(__file__).parents[3]
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc", "mpicc")
NUM_NODES = 4  # for two trainings of two nodes at a time
# What a notebook does after its first ranks is the same on every site, and so is what one lab's script does and
# another's not: one site runs it all, the one with most partitions.
WHOLE = "jean-zay"


@pytest.mark.needs(*PROGRAMS)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("site", site_names(ROOT))
def test_every_script_completes(site):
    """Slurm takes every script, and of each form one completes; JupyterLab answers."""
    report = ROOT / "build" / "rehearsal" / f"{site}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = ["rehearse", "--site", site, "--nodes", str(NUM_NODES), "--json", str(report)]
    words += [] if site == WHOLE else ["--quick"]
    done = subprocess.run(
        [sys.executable, "-m", "workshop", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert report.exists(), done.stdout + done.stderr
    jobs = {job["script"]: job for job in json.loads(report.read_text())["jobs"]}
    texts = {path.name: path.read_text() for path in (ROOT / "slurm" / "jobs" / site).glob("*.sbatch")}
    scripts = texts.keys() - {"grade.sbatch"}
    run = {name: texts[name] for name in scripts} if site == WHOLE else one_of_each_form(texts, scripts)
    good = {name: "COMPLETED" if name in run else "ACCEPTED" for name in scripts}
    good |= {name: "ANSWERED" for name in scripts if name == "jupyter.sbatch"}  # sites with a JupyterHub have none
    assert {name: job["state"] for name, job in jobs.items()} == good, done.stdout.partition("The end of what")[2]
    spread = {name for name, job in jobs.items() if "[" in job["nodes"]}
    assert spread == {name for name in run if not re.search("^#SBATCH --nodes=1\\b", texts[name], re.MULTILINE)}
    assert done.returncode == 0


def one_of_each_form(texts, scripts):
    """Return the first script of each set of options, software, commands and answer to the time limit."""
    forms = {}
    for name in sorted(scripts, key=lambda name: name.removesuffix(".sbatch")):
        directives = re.findall(r"^#SBATCH (--(?!time|job-name)\S+)", texts[name], re.MULTILINE)
        command = re.findall(
            r"coursekit\" \w+|jupyter|srun|torchrun|--mpi|trap \w+|^module load .*|^venv=.*",
            texts[name].partition("\nset ")[2],
            re.MULTILINE,
        )
        forms.setdefault((*directives, *command), name)
    return set(forms.values())
