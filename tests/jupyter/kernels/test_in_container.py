"""The kernel of a site whose software is in a container, on a private Slurm that is shaped like it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit.jupyter.kernel import PlannedKernel, install
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.jobs import job_environment

ROOT = Path(__file__).parents[3]
SITE = "daint-alps"
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc")
pytestmark = [pytest.mark.needs(*PROGRAMS), pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
# Where a hub's notebook server would run: a job on one node that has a task for each rank.
SERVER = """\
#!/bin/bash
#SBATCH --partition=debug --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --gpus-per-node=4 --time=10
#SBATCH --output=/dev/null
"{python}" - <<END
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(startup_timeout=600, kernel_name="coursekit-daint-alps")
client.execute_interactive('!coursekit doctor --json "{report}.unfinished"')
manager.shutdown_kernel(now=True)
END
mv "{report}.unfinished" "{report}"
"""
REPORT_TIMEOUT_S = 900


def test_kernel_in_a_container_runs_as_a_step_of_the_servers_job(course, home):
    """On a node, the kernel starts through the site's `srun`, knows the job, and its ranks are tasks of a step."""
    profile = load_site(ROOT, SITE)
    folder = install(PlannedKernel(profile, "", course), home / ".local")
    report, script = course.parent / "report.json", course.parent / "server.sh"
    script.write_text(SERVER.format(python=sys.executable, report=report))
    with Cluster(profile, num_nodes=1) as cluster:
        command = ["sbatch", "--parsable", script]
        environ = job_environment(cluster, home)
        submitted = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=900)
        deadline_s = time.monotonic() + REPORT_TIMEOUT_S
        while not report.exists() and time.monotonic() < deadline_s:
            time.sleep(0.2)
        asked = ("--noheader", "--parsable2", "--format=JobName,NTasks")
        steps = cluster.call("sacct", f"--jobs={submitted.stdout.strip()}", *asked).splitlines()

    findings = {finding["name"]: finding for finding in json.loads(report.read_text())["findings"]}
    asked = ("Python", "TensorFlow", "Horovod", "Allocation", "Allreduce, 2 ranks")
    assert {name: findings[name]["state"] for name in asked} == dict.fromkeys(asked, "good")
    assert findings["Allocation"]["text"].startswith("job 1 with ")
    # The launcher's look at the environment, the kernel, and the fork server from which the ranks come.
    assert steps == ["server.sh|", "batch|1", "python|1", "python|1", "python|1"]
    # JupyterLab's stop button would reach srun alone, were it a signal.
    assert json.loads((folder / "kernel.json").read_text())["interrupt_mode"] == "message"
