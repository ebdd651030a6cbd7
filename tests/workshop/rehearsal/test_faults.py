"""Two faults are provoked for real, on real job scripts: a node that goes down in mid-job, and the time limit."""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from coursekit.ranks.context import rank_environ, torch_environ
from coursekit.slurm.jobs.slurm_cli import ENDED
from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.course_copy import make_course
from workshop.rehearsal.jobs import job_environment

from .conftest import NEEDS_SLURM

pytestmark = [*NEEDS_SLURM, pytest.mark.needs("mpicc")]

ROOT = Path(__file__).parents[3]
SCRIPT_NAME = "03-keras-cnn-train"
SCRIPT = f"slurm/jobs/karolina/{SCRIPT_NAME}.sbatch"
LOCAL_SCRIPT = SCRIPT.replace("karolina", "local")
NUM_EPOCHS = 40
SMALL = "--model SmallCNN --image-size 32 --max-num-steps 2 --num-epochs"
WAIT_S = 900
WARNING_S = 120  # so long ahead of its limit a job is warned; Slurm counts limits in minutes
SAVES = "trap 'echo saved' TERM; while :; do sleep 1 & wait $!; done"


@pytest.fixture(scope="module")
def outcomes():
    """What became of three jobs on five nodes of Karolina: one's node failed, the others reached their time limit."""
    with Cluster(load_site(ROOT, "karolina"), num_nodes=5) as cluster:
        site = Site(cluster, make_course(ROOT, cluster.folder / "course"))
        failing = site.sbatch(SCRIPT, epochs=NUM_EPOCHS)
        endless = site.sbatch("--time=60", f"--signal=B:USR1@{WARNING_S}", SCRIPT, epochs=100_000)
        deaf = site.sbatch("--time=1", "--signal=B:TERM@20", "--job-name=deaf", "--output=%x-%j.out", "--wrap", SAVES)
        training = site.training(failing)
        _wait_for((training / "epoch-002.index").exists, "the second checkpoint of the job that is to fail")
        cluster.fail(site.nodes(failing)[1])
        num_epochs_before = _num_epochs(training)
        _wait_for((site.training(endless) / "epoch-001.index").exists, "a checkpoint of the endless job")
        site.bring_near_the_limit(endless)
        _wait_for(lambda: site.restarts(endless) >= 1, "the endless job to be requeued")
        cluster.call("scancel", endless)  # it has shown what it is for, and uses both cores
        _wait_for(lambda: site.states(failing)[-1] == "COMPLETED", "the job whose node failed to complete")
        _wait_for(lambda: site.states(deaf) == ["TIMEOUT"], "the time limit of the deaf job")
        return SimpleNamespace(
            states=site.states(failing),
            num_epochs_before=num_epochs_before,
            num_epochs=_num_epochs(training),
            num_epochs_after=len(json.loads((training / "result.json").read_text())["history"]["loss"]),
            log=site.log(failing, SCRIPT_NAME),
            endless=endless,
            endless_log=site.log(endless, SCRIPT_NAME),
            endless_num_epochs=_num_epochs(site.training(endless)),
            deaf_log=site.log(deaf, "deaf"),
        )


def test_a_job_whose_node_goes_down_goes_on_from_its_checkpoint(outcomes):
    """Slurm starts the job again on other nodes, and the training continues after its last checkpoint."""
    assert outcomes.states == ["NODE_FAIL", "COMPLETED"]
    assert outcomes.num_epochs == NUM_EPOCHS
    assert 1 <= outcomes.num_epochs_after <= NUM_EPOCHS - outcomes.num_epochs_before
    assert outcomes.log.splitlines()[-1].startswith("03-keras-cnn-train: trained on 2 ranks")


def test_a_training_near_its_time_limit_goes_back_into_the_queue(outcomes):
    """Ahead of the limit the script hears SIGUSR1, says where its checkpoints are, and has itself started again."""
    said = rf"the time limit is near; .* is in .*\n.*: requeued as job {outcomes.endless}, to go on"
    assert re.search(said, outcomes.endless_log)
    assert outcomes.endless_num_epochs >= 1


def test_a_job_that_does_not_end_is_killed_at_its_time_limit(outcomes):
    """A script that hears SIGTERM ahead of the limit, and then runs on, ends as TIMEOUT: the fixture waited for it."""
    assert "saved" in outcomes.deaf_log.splitlines()


@pytest.fixture(scope="module")
def local():
    """A small Slurm with one node."""
    with Cluster(load_site(ROOT, "local"), num_nodes=1) as cluster:
        yield Site(cluster, make_course(ROOT, cluster.folder / "course"))


def test_a_training_that_is_cancelled_stays_cancelled(local):
    """What `scancel` sends is not taken for the time limit, so nothing is requeued."""
    job_id = local.sbatch(LOCAL_SCRIPT, epochs=100_000)
    _wait_for((local.training(job_id) / "epoch-001.index").exists, "a checkpoint")
    local.cluster.call("scancel", job_id)
    # Only the script could have the job requeued: once it has ended, nothing more can come.
    _wait_for(lambda: local.script_has_ended(job_id), "the end of the script")
    _wait_for(lambda: "COMPLETING" not in local.queue(), "the end of the job")
    queue, num_restarts, log = local.queue(), local.restarts(job_id), local.log(job_id, SCRIPT_NAME)
    assert (queue, num_restarts, "requeued" in log) == ([], 0, False)


def test_tasks_that_train_apart_are_no_success(local):
    """A Horovod that joins by Gloo alone leaves each task as rank 0 of 1: the job fails before it has trained."""
    by_gloo = {"HOROVOD_CONTROLLER": "gloo", "HOROVOD_CPU_OPERATIONS": "gloo"}
    job_id = local.sbatch(LOCAL_SCRIPT, **by_gloo)
    _wait_for(lambda: local.has_ended(job_id), "the training to be refused")
    log = local.log(job_id, SCRIPT_NAME)
    assert local.states(job_id) == ["FAILED"], log
    assert ("train.py: 2 " in log, "[horovod.tasks-not-joined]" in log) == (True, True)
    assert ("trained on" in log, local.training(job_id).exists()) == (False, False)


def test_what_launchers_have_left_in_the_environment_changes_no_training(local):
    """Jobs that are submitted from within mpirun, horovodrun or torchrun, or with a cluster of TensorFlow's."""
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    printed = subprocess.run(
        ["mpirun", "-np", "1", "env", "-0"], env={**os.environ, **as_root}, capture_output=True, text=True, check=True
    )
    of_mpirun = dict(line.split("=", 1) for line in printed.stdout.split("\0") if line.startswith(("OMPI_", "PMIX_")))
    place = rank_environ(rank=3, ranks_on_nodes=(2, 2, 4), rendezvous=("192.0.2.1", 9))
    cluster = {"cluster": {"worker": ["192.0.2.1:9", "192.0.2.2:9"]}, "task": {"type": "worker", "index": 1}}
    of_tensorflow = {"TF_CONFIG": json.dumps(cluster), "KERAS_BACKEND": "torch", "TF2_BEHAVIOR": "0"}
    small, script = "--model SmallCNN --image-size 32 --num-epochs", "slurm/jobs/local/{}.sbatch".format
    names = ("04-estimator-cnn-train", "08-pytorch-train")
    jobs = {
        names[0]: local.sbatch(script(names[0]), options=small, **of_mpirun, **place, **of_tensorflow),
        names[1]: local.sbatch(script(names[1]), options="--num-epochs", **torch_environ(place)),
    }
    _wait_for(lambda: all(map(local.has_ended, jobs.values())), "the trainings")
    logs = {name: local.log(job, name) for name, job in jobs.items()}
    ends = {name: log.splitlines()[-1].partition("; ")[0] for name, log in logs.items()}
    assert ends == {name: f"{name}: trained on 2 ranks" for name in jobs}, "\n".join(logs.values())


def test_a_job_that_another_job_submits_is_one_of_its_own(local):
    """The memory and the tasks of the job around it, and what its user has exported, change nothing."""
    inner = "sbatch --parsable slurm/jobs/local/02-horovod-sgd.sbatch > inner"
    train = f"sbatch --parsable {LOCAL_SCRIPT} > train"
    exported = {"SLURM_EXPORT_ENV": "NONE", "SLURM_DISTRIBUTION": "cyclic", "SLURM_TRES_PER_TASK": "cpu:2"}
    words = ("--ntasks=1", "--mem=300", "--time=5", "--output=outer.out", "--wrap", f"{inner}; {train}")
    outer = local.sbatch(*words, **exported)
    _wait_for(lambda: local.has_ended(outer), "the job that submits")
    jobs = [(local.course / name).read_text().strip() for name in ("inner", "train")]
    _wait_for(lambda: all(map(local.has_ended, jobs)), "its jobs")
    logs = [local.log(job, name) for job, name in zip(jobs, ("02-horovod-sgd", SCRIPT_NAME), strict=True)]
    assert [local.states(job) for job in jobs] == [["COMPLETED"], ["COMPLETED"]], "\n".join(logs)
    assert "with 2 ranks" in logs[0].splitlines()[-1]
    assert logs[1].splitlines()[-1].startswith(f"{SCRIPT_NAME}: trained on 2 ranks")


class Site:
    """A running Slurm, and a course's folder to submit from."""

    def __init__(self, cluster, course):
        self.cluster = cluster
        self.course = course

    def sbatch(self, *words, epochs=1, options=SMALL, **variables):
        """Submit a script whose training has that many epochs, with these variables, and return the job's id."""
        environ = {**job_environment(self.cluster, self.cluster.folder / "home"), **variables}
        environ["COURSEKIT_TRAIN_OPTIONS"] = f"{options} {epochs}"
        words = ["sbatch", "--parsable", *words]
        return subprocess.run(
            words, cwd=self.course, env=environ, check=True, capture_output=True, text=True
        ).stdout.strip()

    def states(self, job_id):
        """Return the states of a job, one for each time it was started."""
        words = ("--duplicates", "--allocations", "--noheader", "--parsable2", "--format=State", f"--jobs={job_id}")
        return self.cluster.call("sacct", *words).split()

    def has_ended(self, job_id):
        """Return whether nothing more comes of a job, by accounting's word."""
        return any(state in ENDED for state in self.states(job_id)[-1:])

    def script_has_ended(self, job_id):
        """Return whether the job's script runs no more, by accounting's word on its step."""
        words = ("--noheader", "--parsable2", "--format=End", f"--jobs={job_id}.batch")
        return self.cluster.call("sacct", *words).split() not in ([], ["Unknown"])

    def queue(self):
        """Return the states of all jobs that Slurm has not done with."""
        return self.cluster.call("squeue", "--noheader", "--format=%T").split()

    def restarts(self, job_id):
        """Return how often a job was started again."""
        words = self.cluster.call("scontrol", "show", "job", job_id).split()
        return next(int(word.removeprefix("Restarts=")) for word in words if word.startswith("Restarts="))

    def nodes(self, job_id):
        """Return a running job's nodes."""
        folded = self.cluster.call("squeue", "--noheader", "--format=%N", f"--jobs={job_id}").strip()
        return self.cluster.call("scontrol", "show", "hostnames", folded).split()

    def bring_near_the_limit(self, job_id):
        """Let a running job have one to two more minutes, and so its warning now."""
        words = ("squeue", "--noheader", "--format=%M", f"--jobs={job_id}")
        minutes = self.cluster.call(*words).strip().rpartition(":")[0] or "0"
        self.cluster.call("scontrol", "update", f"JobId={job_id}", f"TimeLimit={int(minutes) + 2}")

    def log(self, job_id, name):
        """Return what a job has printed."""
        return (self.course / f"{name}-{job_id}.out").read_text()

    def training(self, job_id):
        """Return the folder of a training's checkpoints."""
        return self.course / "jobs" / f"{SCRIPT_NAME}-{job_id}" / "training"


def _num_epochs(training):
    """Return the number of the last checkpoint."""
    return max((int(path.stem.removeprefix("epoch-")) for path in training.glob("epoch-*.index")), default=0)


def _wait_for(is_so, what):
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, f"waited {WAIT_S} s in vain for {what}"
        time.sleep(0.2)
