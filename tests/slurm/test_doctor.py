"""The doctor, against installers' records, and against programs and packages made of a few lines."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import cloudpickle
import pytest

from coursekit import KERAS
from coursekit.ranks.horovod_build import TAKE_ANOTHER
from coursekit.ranks.mpi import NO_MPIRUN
from coursekit.slurm import doctor, probe
from coursekit.slurm.doctor import Found
from coursekit.slurm.probe import ProgramAnswer, ask

from ..tools.conftest import programs

__all__ = ["programs"]
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules
LIMIT_S = 300  # no program here needs it


@pytest.mark.parametrize(
    ("text", "limit_s", "answer"),
    [
        # The output comes stripped, and of the error output the last line counts.
        ("echo '  one  '; echo two; echo first >&2; echo last >&2; exit 3", LIMIT_S, (3, "one  \ntwo", "last")),
        # A crash, here that of a library compiled for another processor, is named.
        ("kill -ILL $$", LIMIT_S, (-4, "", "ended by SIGILL")),
        # A program that hangs is ended with what it started; the fixture of every test looks for processes.
        ("sleep 600 & sleep 600", 0.2, (None, "", "no answer within 0.2 s")),
        # Inside an MPI job, programs that are asked must not take themselves for one of its ranks.
        ('echo "[$OMPI_COMM_WORLD_RANK$HOROVOD_RANK]"', LIMIT_S, (0, "[]", "exit status 0")),
    ],
)
def test_what_a_program_answers(programs, monkeypatch, text, limit_s, answer):
    """Its exit status, what it printed, and its last words or how it ended."""
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    monkeypatch.setenv("HOROVOD_RANK", "3")

    assert ask([str(programs("program", text))], limit_s) == ProgramAnswer(*answer)


def test_missing_program_is_an_answer(tmp_path):
    """A program that does not exist gives no status, and says so instead of raising."""
    status, output, complaint = ask([str(tmp_path / "nothing")], LIMIT_S)
    assert (status, output, "nothing" in complaint) == (None, "", True)


@pytest.fixture
def shadow(tmp_path, monkeypatch):
    """A function that puts a package of the given name and source before the real one, for all programs started."""

    def write(name, source):
        package = tmp_path / "broken" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))

    doctor.probed.cache_clear()
    yield write
    doctor.probed.cache_clear()


@pytest.fixture
def facts(monkeypatch):
    """A function that has the probe say something else, such as GPUs, which this machine may not have."""

    def say(**packages):
        monkeypatch.setattr(doctor, "probed", lambda: {"TensorFlow": {}, "Keras": {}, "Horovod": {}, **packages})

    return say


# What Horovod's compiled library calls only when it was built with the controller or operations of that name.
SYMBOLS = {"Gloo": b"N4gloo", "MPI": b"MPI_Allreduce", "NCCL": b"ncclAllReduce"}


def test_imported_versions_are_those_installed():
    """What packages say of themselves is what the installer wrote down; Horovod's parts are what it has calls for."""
    (library,) = [Path(path.locate()) for path in metadata.files("horovod") if path.match("tensorflow/mpi_lib*.so")]
    compiled = {name for name, symbol in SYMBOLS.items() if symbol in library.read_bytes()}
    controllers = " and ".join(name for name in ("Gloo", "MPI") if name in compiled)

    assert [doctor.check_imported("TensorFlow"), doctor.check_imported("Keras"), doctor.check_horovod()] == [
        Found("good", metadata.version("tensorflow-cpu")),
        Found("good", metadata.version(KERAS)),
        Found("good", f"{metadata.version('horovod')}, with {controllers}"),
    ]
    assert (doctor.check_gpu_operations().state == "good") is ("NCCL" in compiled)


@pytest.mark.parametrize(
    ("package", "source", "state", "said"),
    [
        ("tensorflow", "raise ImportError('libcudart.so: cannot open')", "wrong", "libcudart.so: cannot open"),
        # A TensorFlow compiled for another processor ends its process: the doctor lives on.
        ("tensorflow", "import os, signal; os.kill(os.getpid(), signal.SIGILL)", "wrong", "SIGILL"),
        ("horovod", "raise ModuleNotFoundError('none')", "missing", "none"),
    ],
)
def test_what_cannot_be_imported_is_quoted(shadow, package, source, state, said):
    """Not there is missing, and broken is wrong; Horovod on top of a broken TensorFlow is, too."""
    shadow(package, source)
    title = {"tensorflow": "TensorFlow", "horovod": "Horovod"}[package]

    found = doctor.check_imported(title)

    assert (found.state, said in found.text, "PYTHONPATH" in found.remedy) == (state, True, True)
    assert doctor.check_horovod().state == state
    assert (doctor.check_imported("TensorFlow").state == "good") is (title == "Horovod")


@pytest.mark.parametrize(
    ("tensorflow", "keras", "states"),
    [
        ("2.15.0", "2.15.1", ["good", "good"]),
        ("2.16.2", "2.16.0", ["wrong", "good"]),  # what lies between the two releases is not tested
        ("2.21.3", "2.15.0", ["good", "wrong"]),
        ("2.21.0", "3.12.4", ["good", "wrong"]),
    ],
)
def test_any_patch_release_will_do(tensorflow, keras, states, facts):
    """A site's TensorFlow 2.15.0 is as good as the pinned 2.15.1; Keras is that of the TensorFlow found."""
    facts(TensorFlow={"version": tensorflow}, Keras={"version": keras})
    assert [doctor.check_imported(title).state for title in ("TensorFlow", "Keras")] == states


@pytest.mark.parametrize(
    ("controllers", "launcher", "remedy"),
    [
        ([], "/usr/bin/mpirun", TAKE_ANOTHER),  # it joins nobody
        (["MPI"], "/usr/bin/mpirun", ""),  # as conda and centres build it; notebooks start ranks by mpirun then
        (["MPI"], None, NO_MPIRUN),
    ],
)
def test_horovod_needs_a_way_to_join_ranks(controllers, launcher, remedy, facts, monkeypatch):
    """With neither Gloo nor MPI no ranks are tried, and MPI alone needs its launcher."""
    facts(Horovod={"version": metadata.version("horovod"), "controllers": controllers})
    monkeypatch.setattr(doctor, "mpirun", lambda: launcher)
    found = doctor.check_horovod()
    assert (found.state, found.remedy) == ("wrong" if remedy else "good", remedy)
    if not controllers:
        assert doctor.check_allreduce().remedy == remedy


def test_published_weaknesses_are_those_of_the_page_on_security():
    """They hinder nothing."""
    found = doctor.check_weaknesses()
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    assert found.state == "good"
    assert re.findall(r"CVE-[\d-]+\d", found.text) == re.findall(r"^\| \[(CVE-[\d-]+\d)\]", page, re.MULTILINE)


@pytest.mark.parametrize(("gpus", "slower"), [([], False), (["A100"], True)])
def test_the_way_of_gradients_is_said(gpus, slower, facts):
    """Which Horovod make env has made; without NCCL gradients of GPUs go through the host."""
    facts(TensorFlow={"gpus": gpus}, Horovod={"gpu_operations": []})
    found = doctor.check_gpu_operations()
    assert (found.state, doctor.THROUGH_HOST in found.text) == ("missing", slower)


@pytest.fixture
def bare_path(programs, monkeypatch):
    """A PATH with nothing on it but the programs of the test."""
    monkeypatch.setenv("PATH", str(programs.folder))


@pytest.mark.parametrize(("with_cuda", "remedy"), [(False, doctor.WITH_GPUS), (True, doctor.DRIVER)])
@pytest.mark.usefixtures("bare_path")
def test_gpus_tensorflow_cannot_use_are_wrong(programs, facts, with_cuda, remedy):
    """A machine without any is told apart from one whose GPUs a TensorFlow for CPUs, or a driver, hides."""
    facts(TensorFlow={"gpus": [], "with_cuda": with_cuda})
    assert doctor.check_gpus().state == "missing"

    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'; echo 'GPU 1: NVIDIA A100 (UUID: 2)'")
    found = doctor.check_gpus()

    assert (found.state, " 2," in found.text, found.remedy) == ("wrong", True, remedy)


@pytest.mark.usefixtures("bare_path")
def test_slurm_and_the_allocation(programs, monkeypatch):
    """What the caller's shell says of `sinfo` hides no partition, and a job that has ended is no allocation."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("SINFO_PARTITION", "none")
    assert [doctor.check_slurm().state, doctor.check_allocation().state] == ["missing", "missing"]

    programs("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1")
    silent = doctor.check_slurm()
    assert (silent.state, "slurm_load_partitions: Unable to" in silent.text) == ("wrong", True)

    programs("sinfo", "echo short; echo gpu; echo gpu$SINFO_PARTITION")
    programs("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert doctor.check_slurm() == Found("good", "partitions: gpu, short")
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    ended = doctor.check_allocation()
    assert (ended.state, "77" in ended.text, "COURSEKIT_RANKS=local" in ended.remedy) == ("wrong", True, True)
    programs("squeue", "echo RUNNING")
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert doctor.check_allocation() == Found("good", "job 77 with 8 tasks")


def test_pytorch_is_told_by_its_metadata(monkeypatch):
    """Its version when it is there; without it, what to do."""
    monkeypatch.setattr(metadata, "version", {"torch": "2.13.0"}.__getitem__)
    assert doctor.check_pytorch() == Found("good", "2.13.0")

    def not_there(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", not_there)
    missing = doctor.check_pytorch()
    assert (missing.state, "make torch" in missing.remedy) == ("missing", True)


@pytest.mark.usefixtures("bare_path")
def test_a_sandbox_that_does_not_start_is_quoted(programs):
    """Bubblewrap that is not there, and one that may not make namespaces."""
    assert doctor.check_sandbox().state == "missing"

    programs("bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    wrong = doctor.check_sandbox()
    assert (wrong.state, "bwrap: No permissions" in wrong.text) == ("wrong", True)


@pytest.mark.needs("bwrap")
def test_a_sandbox_that_starts_is_good():
    """The line has bubblewrap's own version."""
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    found = doctor.check_sandbox()
    assert (found.state, found.text.startswith(version)) == ("good", True)


def test_the_node_is_this_machine():
    """The line has the node's name and the cores this process may use (nproc)."""
    node, cores = (
        subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        for words in (["uname", "-n"], ["nproc"])
    )

    assert doctor.check_node().text.startswith(f"{node}: {cores} ")


def test_space_is_what_df_says(tmp_path):
    """Free space is what a user can still write; too little, and a folder that is not there, are wrong."""
    words = ["df", "--output=avail", "--block-size=1", str(tmp_path)]
    free_gb = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1e9

    found = doctor.check_space(tmp_path, 0)
    assert (found.state, float(found.text.split()[0])) == ("good", pytest.approx(free_gb, abs=0.5))
    full = doctor.check_space(tmp_path, 10**6)
    assert (full.state, "1000000 GB" in full.remedy) == ("wrong", True)
    assert doctor.check_space(tmp_path / "nothing", 0).state == "wrong"


def test_allreduce_that_fails_is_wrong(shadow):
    """When ranks cannot start, the line says why."""
    shadow("horovod", "raise ImportError('libmpi.so.40: cannot open shared object file')")

    found = doctor.check_allreduce()

    assert (found.state, "libmpi.so.40" in found.text) == ("wrong", True)


def own_number():
    """Measure on a rank what an allreduce that adds nothing gives: the rank's own number."""
    import horovod.tensorflow as hvd

    hvd.init()
    return hvd.rank() + 1.0, 1.0


def test_wrong_sum_fails(monkeypatch):
    """An allreduce that does not add is no allreduce."""
    monkeypatch.setattr(probe, "measure", own_number)

    with pytest.raises(RuntimeError, match=r"\[1\.0, 2\.0\]"):
        probe.check_allreduce()


COURSEKIT = Path(sys.executable).with_name("coursekit")


def run_doctor(home, **extra):
    """Call the doctor, and return exit status, output and error output."""
    variables = {**os.environ, "HOME": str(home), "COLUMNS": "200", **extra}
    done = subprocess.run(
        [COURSEKIT, "doctor"], env=variables, capture_output=True, text=True, check=False, timeout=900
    )
    return done.returncode, done.stdout, done.stderr


def test_healthy_environment_is_ready(tmp_path):
    """In the environment of make env nothing needed is missing, two ranks add up, and the exit status is 0."""
    status, output, errors = run_doctor(tmp_path)

    assert (status, errors) == (0, "")
    assert output.splitlines()[-1].startswith("Ready")
    assert re.search(r"^ +Allreduce, 2 ranks +good +[\d.]+ ms for 1 MB; ", output, re.MULTILINE)


def test_broken_environment_is_not_ready(shadow, tmp_path):
    """Without TensorFlow the exit status is 1, and the last line names all that has to be fixed first."""
    shadow("tensorflow", "raise ModuleNotFoundError(\"No module named 'tensorflow'\")")

    status, output, _ = run_doctor(tmp_path)
    lines = output.strip().splitlines()

    assert status == 1
    assert lines[-1].startswith("Fix first: Packages, TensorFlow, Keras, Horovod, Allreduce, 2 ranks.")
    assert any(line.split()[:2] == ["TensorFlow", "missing"] for line in lines)
