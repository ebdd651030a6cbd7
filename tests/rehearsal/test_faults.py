"""Two faults are provoked for real, on real job scripts: a node that goes down in mid-job, and the time limit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from coursekit.rehearsal.cluster import Cluster
from coursekit.rehearsal.course import make_course
from coursekit.rehearsal.small_run import job_environment
from coursekit.sites.load import load_site

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc", "mpicc")
pytestmark = [
    pytest.mark.needs(*PROGRAMS),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

ROOT = Path(__file__).parents[2]
SCRIPT = "slurm/jobs/karolina/03-keras-cnn-train.sbatch"
NUM_EPOCHS = 40
SMALL = "--model SmallCNN --image-size 32 --max-num-steps 2 --num-epochs"
WAIT_S = 240
SAVES = "trap 'echo saved' TERM; while :; do sleep 1 & wait $!; done"


@pytest.fixture(scope="module")
def site():
    """Five nodes of Karolina with three jobs: one whose node will fail, and two that will reach their time limit."""
    with Cluster(load_site(ROOT, "karolina"), num_nodes=5) as cluster:
        course = make_course(ROOT, cluster.folder / "course")

        def sbatch(*words, epochs=1):
            environ = {
                **job_environment(cluster, cluster.folder / "home"),
                "COURSEKIT_TRAIN_OPTIONS": f"{SMALL} {epochs}",
            }
            done = subprocess.run(
                ["sbatch", "--parsable", *words], cwd=course, env=environ, check=True, capture_output=True
            )
            return done.stdout.decode().strip()

        limit = ("--time=2", "--signal=B:TERM@30")
        yield SimpleNamespace(
            cluster=cluster,
            course=course,
            failing=sbatch(SCRIPT, epochs=NUM_EPOCHS),
            endless=sbatch(*limit, SCRIPT, epochs=100_000),
            deaf=sbatch("--time=1", "--signal=B:TERM@20", "--output=deaf.out", "--wrap", SAVES),
        )


def test_a_job_whose_node_goes_down_goes_on_from_its_checkpoint(site):
    """Slurm starts the job again on other nodes, and the training continues after its last checkpoint."""
    folder = site.course / "jobs" / f"03-keras-cnn-train-{site.failing}" / "training"
    _wait_for((folder / "epoch-002.index").exists)
    site.cluster.fail(_nodes(site, site.failing)[1])
    done_before = max(int(path.stem.removeprefix("epoch-")) for path in folder.glob("epoch-*.index"))
    _wait_for(lambda: _states(site, site.failing)[-1] == "COMPLETED")
    assert _states(site, site.failing) == ["NODE_FAIL", "COMPLETED"]
    num_epochs = len(json.loads((folder / "result.json").read_text())["history"]["loss"])
    assert 1 <= num_epochs <= NUM_EPOCHS - done_before
    assert (folder / f"epoch-{NUM_EPOCHS:03d}.index").exists()
    assert _log(site, site.failing).splitlines()[-1].startswith("03-keras-cnn-train: trained on 2 ranks")


def test_a_training_near_its_time_limit_goes_back_into_the_queue(site):
    """Ahead of the limit the script hears SIGTERM, says where its checkpoints are, and has itself started again."""
    said = re.compile(rf"the time limit is near; .* are in .*\n.*: requeued as job {site.endless}, to go on")
    _wait_for(lambda: said.search(_log(site, site.endless)) is not None)
    _wait_for(lambda: "Restarts=1" in site.cluster.call("scontrol", "show", "job", site.endless).split())
    site.cluster.call("scancel", site.endless)
    folder = site.course / "jobs" / f"03-keras-cnn-train-{site.endless}" / "training"
    assert (folder / "epoch-001.index").exists()


def test_a_job_that_does_not_end_is_killed_at_its_time_limit(site):
    """A script that only saves on SIGTERM runs on until the limit, and ends as TIMEOUT."""
    _wait_for(lambda: _states(site, site.deaf) == ["TIMEOUT"])
    text = (site.course / "deaf.out").read_text()
    assert text.splitlines().count("saved") >= 1
    assert "DUE TO TIME LIMIT" in text


def test_a_node_comes_back():
    """A failed node is down, and takes jobs again once it is brought back."""
    with Cluster(load_site(ROOT, "local"), num_nodes=2) as cluster:
        words = ("sinfo", "--Node", "--noheader", "--format=%N %T")
        cluster.fail("main-2")
        down = cluster.call(*words).splitlines()
        cluster.bring_back("main-2")
        up = cluster.call(*words).splitlines()
        ran = cluster.call("srun", "--account=course", "--nodelist=main-2", "hostname").split()
    assert (down, up, ran) == (["main-1 idle", "main-2 down"], ["main-1 idle", "main-2 idle"], ["main-2"])


def _states(site, job_id):
    """Return the states of a job, one for each time it was started."""
    words = ("--duplicates", "--allocations", "--noheader", "--parsable2", "--format=State", f"--jobs={job_id}")
    return site.cluster.call("sacct", *words).split()


def _nodes(site, job_id):
    folded = site.cluster.call("squeue", "--noheader", "--format=%N", f"--jobs={job_id}").strip()
    return site.cluster.call("scontrol", "show", "hostnames", folded).split()


def _log(site, job_id):
    path = site.course / f"03-keras-cnn-train-{job_id}.out"
    return path.read_text() if path.exists() else ""


def _wait_for(is_so):
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)
