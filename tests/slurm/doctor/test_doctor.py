"""The doctor as a whole, and its checks of the machine, against other programs and sites made of small scripts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import psutil
import pytest

from coursekit.slurm.doctor import doctor
from coursekit.slurm.doctor.findings import Finding


@pytest.fixture
def bare_path(programs, monkeypatch):
    """A PATH with nothing on it but the programs of the test."""
    monkeypatch.setenv("PATH", str(programs.folder))


# What Horovod's compiled library calls only when it was built with the controller or operations of that name.
SYMBOLS = {"Gloo": b"N4gloo", "MPI": b"MPI_Allreduce", "NCCL": b"ncclAllReduce"}


def test_controllers_are_those_compiled_in():
    """Controllers and GPU operations are what the compiled library has calls for."""
    (library,) = [Path(path.locate()) for path in metadata.files("horovod") if path.match("tensorflow/mpi_lib*.so")]
    compiled = {name for name, symbol in SYMBOLS.items() if symbol in library.read_bytes()}

    finding = doctor.check_controllers()

    assert finding.state == "good"
    assert set(finding.text.split(" and ")) == compiled & {"Gloo", "MPI"}
    assert (doctor.check_gpu_operations().state == "good") is ("NCCL" in compiled)


@pytest.mark.needs("mpicc", "mpirun")
def test_mpi_is_the_one_on_the_path():
    """With an MPI there when Horovod was built, the line gives its version, and is good."""
    version = subprocess.run(["mpicc", "--showme:version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"\d+\.\d+\.\d+", version)[0]

    finding = doctor.check_mpi()

    assert (finding.name, finding.state) == ("MPI", "good")
    assert number in finding.text


@pytest.mark.usefixtures("bare_path")
def test_mpi_that_is_missing_or_does_not_run(programs):
    """On a laptop none is needed; an mpirun whose libraries are not found is wrong, with the reason."""
    assert (doctor.check_mpi().state, doctor.check_mpi().hinders) == ("missing", False)

    programs("mpirun", "echo 'mpirun: error while loading shared libraries' >&2; exit 127")
    finding = doctor.check_mpi()

    assert finding.state == "wrong"
    assert "error while loading shared libraries" in finding.text


@pytest.mark.usefixtures("bare_path")
def test_gpus_tensorflow_cannot_use_are_wrong(programs):
    """A machine with GPUs that TensorFlow does not see is told apart from one without any."""
    assert doctor.check_gpus().state == "missing"

    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'; echo 'GPU 1: NVIDIA A100 (UUID: 2)'")
    finding = doctor.check_gpus()

    assert (finding.state, finding.text) == ("wrong", "the machine has 2, but TensorFlow is one for CPUs")
    assert finding.remedy.startswith("COURSEKIT_GPUS=host make env")


@pytest.mark.parametrize(
    ("gpus", "operations", "text"),
    [
        ([], [], "built without NCCL: fine on CPUs"),
        (["A100"], [], f"built without NCCL: {doctor.THROUGH_HOST}"),
        (["A100"], ["NCCL"], "NCCL"),
    ],
)
def test_the_way_of_gradients_is_said(gpus, operations, text, monkeypatch):
    """Which Horovod make env has made; what stands in for the probe has GPUs, which this machine may not have."""
    facts = {"tensorflow": {"gpus": gpus, "with_cuda": True}, "horovod": {"gpu_operations": operations}}
    monkeypatch.setattr(doctor, "probe", facts.__getitem__)

    finding = doctor.check_gpu_operations()

    assert (finding.text, finding.hinders) == (text, False)


@pytest.mark.usefixtures("bare_path")
def test_gpus_that_the_driver_hides_are_told_apart(programs, monkeypatch):
    """A TensorFlow for GPUs that sees none lacks no package: the driver is too old, or a variable hides them."""
    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'")
    monkeypatch.setattr(doctor, "probe", lambda _: {"gpus": [], "with_cuda": True})

    assert doctor.check_gpus().remedy.startswith("CUDA 12 takes a driver from 525 on")


@pytest.mark.usefixtures("bare_path")
def test_variables_of_slurms_commands_do_not_steer_the_doctor(programs, monkeypatch):
    """What the caller's shell says of `sinfo` hides no partition, and a job that has ended is no allocation."""
    monkeypatch.setenv("SINFO_PARTITION", "none")
    programs("srun", "echo slurm-wlm 22.05.8")
    programs("sinfo", "echo short; echo gpu; echo gpu$SINFO_PARTITION")
    programs("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")

    assert doctor.check_slurm() == Finding("Slurm", "good", "slurm-wlm 22.05.8; partitions: gpu, short", needed=False)
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    ended = doctor.check_allocation()
    assert (ended.state, "77" in ended.text, "COURSEKIT_RANKS=local" in ended.remedy) == ("wrong", True, True)
    programs("squeue", "echo RUNNING")
    assert doctor.check_allocation().state == "good"


@pytest.mark.usefixtures("bare_path")
def test_slurm_that_does_not_answer_is_wrong(programs):
    """Client programs without a controller behind them are wrong, and none at all is missing."""
    assert doctor.check_slurm().state == "missing"

    programs("srun", "echo slurm-wlm 22.05.8")
    programs("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1")
    finding = doctor.check_slurm()

    assert finding.state == "wrong"
    assert finding.text == "does not answer: slurm_load_partitions: Unable to contact slurm controller"


def test_node_is_this_machine():
    """The line has the node's name, the cores this process may use (nproc) and its memory."""
    node = subprocess.run(["uname", "-n"], capture_output=True, text=True, check=True).stdout.strip()
    cores = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout.strip()

    text = doctor.check_node().text

    assert text.startswith(f"{node}: {cores} CPU cores for this process, ")
    assert text.endswith(f" of {psutil.virtual_memory().total / 1e9:.0f} GB memory free")


def test_allocation_is_read_from_slurms_variables(monkeypatch):
    """Inside a job the line gives its number and what was granted; outside, it is missing and no hindrance."""
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    assert (doctor.check_allocation().state, doctor.check_allocation().hinders) == ("missing", False)

    for name, value in {"JOB_ID": "1234", "JOB_PARTITION": "gpu", "JOB_NUM_NODES": "2", "NTASKS": "8"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)

    assert doctor.check_allocation().text == "job 1234, job_partition gpu, job_num_nodes 2, ntasks 8"


def test_space_is_what_df_says(tmp_path):
    """Free space is what a user of that folder can still write."""
    words = ["df", "--output=avail", "--block-size=1", str(tmp_path)]
    free_gb = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1e9

    finding = doctor.check_space("home", tmp_path)

    assert float(finding.text.split()[0]) == pytest.approx(free_gb, abs=0.5)
    assert finding.state == ("good" if free_gb >= 1 else "wrong")


def test_no_space_is_wrong(monkeypatch, tmp_path):
    """Less than the labs need hinders, and the line says how much that is; so does a home that is not there."""
    monkeypatch.setitem(doctor.SPACE_NEEDED_GB, "home", 10**6)
    finding = doctor.check_space("home", tmp_path)

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.remedy.startswith("free 1000000 GB")
    assert doctor.check_space("home", tmp_path / "nothing").hinders


def test_course_folder_is_the_checkout(tmp_path, monkeypatch):
    """Inside a checkout its space counts, outside that of the current folder."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))
    assert doctor.check_course_folder().text.endswith(f"free in {tmp_path}")

    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    monkeypatch.setenv("COURSEKIT_ROOT", str(outside))

    assert doctor.check_course_folder().text.endswith(f"free in {outside}")


def test_allreduce_that_fails_is_wrong(tmp_path, monkeypatch):
    """When ranks cannot start, the line says why."""
    package = tmp_path / "horovod"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('libmpi.so.40: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    finding = doctor.check_allreduce()

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert "libmpi.so.40" in finding.text


def test_an_exchange_without_a_sticky_bit_is_named(tmp_path, monkeypatch):
    """Of the checkout's course, with what is in it; without a course nothing is missing that the labs need."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "solutions").mkdir()
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))
    without = doctor.check_exchange()
    inbound = tmp_path / "course" / "exchange" / "dl" / "inbound"
    inbound.mkdir(parents=True)
    states = []
    for mode in (0o1733, 0o733):
        inbound.chmod(mode)
        states.append(doctor.check_exchange().state)

    assert (without.state, without.hinders, states) == ("missing", False, ["good", "wrong"])
    assert doctor.check_exchange().text.startswith("exchange/dl/inbound ")


COURSEKIT = Path(sys.executable).with_name("coursekit")


@pytest.fixture
def coursekit_doctor(tmp_path):
    """A function that calls the doctor and returns exit status, output and error output."""

    def run(*words, **extra):
        variables = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "200", **extra}
        command = [COURSEKIT, "doctor", *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=900)
        return done.returncode, done.stdout, done.stderr

    return run


def test_healthy_environment_is_ready(coursekit_doctor, tmp_path):
    """In the environment of make env nothing needed is missing, two ranks add up, and the exit status is 0."""
    status, output, errors = coursekit_doctor("--json", tmp_path / "doctor.json")
    report = json.loads((tmp_path / "doctor.json").read_text())
    findings = {finding["name"]: finding for finding in report["findings"]}

    assert (status, report["ready"], errors) == (0, True, "")
    assert output.splitlines()[-1].startswith("Ready")
    assert {finding["state"] for finding in findings.values() if finding["needed"]} == {"good"}
    assert re.fullmatch(r"[\d.]+ ms for 1 MB; .*", findings["Allreduce, 2 ranks"]["text"])


def test_broken_environment_is_not_ready(coursekit_doctor, tmp_path):
    """Without TensorFlow the exit status is 1, and the last line names all that has to be fixed first."""
    package = tmp_path / "broken" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'tensorflow'\")")

    status, output, _ = coursekit_doctor(PYTHONPATH=str(tmp_path / "broken"))
    lines = output.strip().splitlines()

    assert status == 1
    assert lines[-1].startswith("Fix first: TensorFlow, Keras, Horovod, Horovod controllers, Allreduce, 2 ranks.")
    assert any(line.split()[:3] == ["TensorFlow", "missing", "cannot"] for line in lines)
    assert "PYTHONPATH leads to another tensorflow" in " ".join(output.split())
    assert "run make env" not in " ".join(output.split())
