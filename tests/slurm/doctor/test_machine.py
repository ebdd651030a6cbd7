"""The doctor's checks of the machine, against other programs of this machine and sites made of small scripts."""

from __future__ import annotations

import os
import re
import subprocess
from importlib import metadata
from pathlib import Path

import psutil
import pytest

from coursekit.slurm.doctor import machine
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

    finding = machine.check_controllers()

    assert finding.state == "good"
    assert set(finding.text.split(" and ")) == compiled & {"Gloo", "MPI"}
    assert (machine.check_gpu_operations().state == "good") is ("NCCL" in compiled)


@pytest.mark.needs("mpicc", "mpirun")
def test_mpi_is_the_one_on_the_path():
    """With an MPI there when Horovod was built, the line gives its version, and is good."""
    version = subprocess.run(["mpicc", "--showme:version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"\d+\.\d+\.\d+", version)[0]

    finding = machine.check_mpi()

    assert (finding.name, finding.state) == ("MPI", "good")
    assert number in finding.text


@pytest.mark.usefixtures("bare_path")
def test_no_mpi_does_not_hinder():
    """On a laptop there is no MPI, and none is needed."""
    finding = machine.check_mpi()

    assert (finding.state, finding.hinders) == ("missing", False)


@pytest.mark.usefixtures("bare_path")
def test_mpi_that_does_not_run_is_wrong(programs):
    """An mpirun whose libraries are not found is wrong, with the reason."""
    programs("mpirun", "echo 'mpirun: error while loading shared libraries' >&2; exit 127")

    finding = machine.check_mpi()

    assert finding.state == "wrong"
    assert "error while loading shared libraries" in finding.text


@pytest.mark.usefixtures("bare_path")
def test_gpus_tensorflow_cannot_use_are_wrong(programs):
    """A machine with GPUs that TensorFlow does not see is told apart from one without any."""
    assert machine.check_gpus().state == "missing"

    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'; echo 'GPU 1: NVIDIA A100 (UUID: 2)'")
    finding = machine.check_gpus()

    assert (finding.state, finding.text) == ("wrong", "the machine has 2, but TensorFlow is one for CPUs")
    assert finding.remedy.startswith("COURSEKIT_GPUS=host make env")


@pytest.mark.parametrize(
    ("gpus", "operations", "text"),
    [
        ([], [], "built without NCCL: fine on CPUs"),
        (
            ["A100"],
            [],
            f"built without NCCL: {machine.THROUGH_HOST}",
        ),
        (["A100"], ["NCCL"], "NCCL"),
    ],
)
def test_the_way_of_gradients_is_said(gpus, operations, text, monkeypatch):
    """Which Horovod make env has made; what stands in for the probe has GPUs, which this machine may not have."""
    facts = {"tensorflow": {"gpus": gpus, "with_cuda": True}, "horovod": {"gpu_operations": operations}}
    monkeypatch.setattr(machine, "probe", facts.__getitem__)

    finding = machine.check_gpu_operations()

    assert (finding.text, finding.hinders) == (text, False)


@pytest.mark.usefixtures("bare_path")
def test_gpus_that_the_driver_hides_are_told_apart(programs, monkeypatch):
    """A TensorFlow for GPUs that sees none lacks no package: the driver is too old, or a variable hides them."""
    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'")
    monkeypatch.setattr(machine, "probe", lambda _: {"gpus": [], "with_cuda": True})

    assert machine.check_gpus().remedy.startswith("CUDA 12 takes a driver from 525 on")


@pytest.mark.usefixtures("bare_path")
def test_slurm_lists_version_and_partitions(programs):
    """On a login node the line gives Slurm's version and the partitions that can be seen."""
    programs("srun", "echo slurm-wlm 22.05.8")
    programs("sinfo", "echo short; echo gpu; echo gpu")

    assert machine.check_slurm() == Finding("Slurm", "good", "slurm-wlm 22.05.8; partitions: gpu, short", needed=False)


@pytest.mark.usefixtures("bare_path")
def test_slurm_that_does_not_answer_is_wrong(programs):
    """Client programs without a controller behind them are wrong, and none at all is missing."""
    assert machine.check_slurm().state == "missing"

    programs("srun", "echo slurm-wlm 22.05.8")
    programs("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1")
    finding = machine.check_slurm()

    assert finding.state == "wrong"
    assert finding.text == "does not answer: slurm_load_partitions: Unable to contact slurm controller"


def test_node_is_this_machine():
    """The line has the node's name, the cores this process may use (nproc) and its memory."""
    node = subprocess.run(["uname", "-n"], capture_output=True, text=True, check=True).stdout.strip()
    cores = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout.strip()

    text = machine.check_node().text

    assert text.startswith(f"{node}: {cores} CPU cores for this process, ")
    assert text.endswith(f" of {psutil.virtual_memory().total / 1e9:.0f} GB memory free")


def test_allocation_is_read_from_slurms_variables(monkeypatch):
    """Inside a job the line gives its number and what was granted; outside, it is missing and no hindrance."""
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    assert (machine.check_allocation().state, machine.check_allocation().hinders) == ("missing", False)

    for name, value in {"JOB_ID": "1234", "JOB_PARTITION": "gpu", "JOB_NUM_NODES": "2", "NTASKS": "8"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)

    assert machine.check_allocation().text == "job 1234, job_partition gpu, job_num_nodes 2, ntasks 8"


def test_space_is_what_df_says(tmp_path):
    """Free space is what a user of that folder can still write."""
    words = ["df", "--output=avail", "--block-size=1", str(tmp_path)]
    free_gb = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1e9

    finding = machine.check_space("home", tmp_path)

    assert float(finding.text.split()[0]) == pytest.approx(free_gb, abs=0.5)
    assert finding.state == ("good" if free_gb >= 1 else "wrong")


def test_too_little_space_is_wrong(monkeypatch, tmp_path):
    """A folder with less than the labs need hinders, and the line says how much is needed."""
    monkeypatch.setitem(machine.SPACE_NEEDED_GB, "home", 10**6)

    finding = machine.check_space("home", tmp_path)

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.remedy.startswith("free 1000000 GB")


def test_folder_that_is_not_there_is_wrong(tmp_path):
    """A home that does not exist on a compute node is found out before a lab fails on it."""
    finding = machine.check_space("home", tmp_path / "nothing")

    assert (finding.state, finding.hinders) == ("wrong", True)


def test_course_folder_is_the_checkout(tmp_path, monkeypatch):
    """Inside a checkout its space counts, outside that of the current folder."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))
    assert machine.check_course_folder().text.endswith(f"free in {tmp_path}")

    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    monkeypatch.setenv("COURSEKIT_ROOT", str(outside))

    assert machine.check_course_folder().text.endswith(f"free in {outside}")


def test_allreduce_that_fails_is_wrong(tmp_path, monkeypatch):
    """When ranks cannot start, the line says why."""
    package = tmp_path / "horovod"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('libmpi.so.40: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    finding = machine.check_allreduce()

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert "libmpi.so.40" in finding.text
