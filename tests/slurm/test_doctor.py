"""The doctor, against installers' records, and against programs and packages made of a few lines."""

import getpass
import os
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import cloudpickle
import pytest

from coursekit import KERAS
from coursekit.ranks.launched import TAKE_ANOTHER
from coursekit.ranks.mpi import NO_MPIRUN
from coursekit.slurm import doctor, probe
from coursekit.slurm.doctor import Finding
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
    answer = ask([str(tmp_path / "nothing")], LIMIT_S)

    assert (answer.status, answer.output) == (None, "")
    assert "No such file or directory" in answer.complaint


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
        Finding("TensorFlow", "good", metadata.version("tensorflow-cpu")),
        Finding("Keras", "good", metadata.version(KERAS)),
        Finding("Horovod", "good", f"{metadata.version('horovod')}, with {controllers}"),
    ]
    assert (doctor.check_gpu_operations().state == "good") is ("NCCL" in compiled)


def test_python_is_the_one_that_runs():
    """The line about Python says which one, since sites have many."""
    assert doctor.check_python() == Finding("Python", "good", f"{platform.python_version()} ({sys.executable})")


def test_tensorflow_that_cannot_be_imported_is_wrong(shadow):
    """A TensorFlow that is there but broken is wrong, with the reason; Horovod on top of it is wrong as well."""
    shadow("tensorflow", "raise ImportError('libcudart.so: cannot open shared object file')")

    finding = doctor.check_imported("TensorFlow")

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.text == "cannot be imported: ImportError: libcudart.so: cannot open shared object file"
    assert "PYTHONPATH" in finding.remedy
    assert doctor.check_horovod().state == "wrong"


def test_tensorflow_that_crashes_does_not_take_the_doctor_with_it(shadow):
    """A TensorFlow compiled for another processor ends its process: the doctor names the signal and lives on."""
    shadow("tensorflow", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")

    finding = doctor.check_imported("TensorFlow")

    assert (finding.state, finding.text) == ("wrong", "cannot be imported: ended by SIGILL")


def test_horovod_that_is_not_there_is_missing(shadow):
    """A Horovod that is not installed is missing, not wrong, while TensorFlow's line stays good."""
    shadow("horovod", "raise ModuleNotFoundError(\"No module named 'horovod'\")")

    assert doctor.check_horovod().state == "missing"
    assert doctor.check_imported("TensorFlow").state == "good"


@pytest.mark.parametrize(
    ("version", "state"), [("2.15.0", "good"), ("2.15.1", "good"), ("2.16.2", "wrong"), ("2.21.3", "good")]
)
def test_any_patch_release_of_tensorflow_will_do(version, state, facts):
    """A site's TensorFlow 2.15.0 is as good as the pinned 2.15.1, and any 2.21; what lies between is not tested."""
    facts(TensorFlow={"version": version})
    assert doctor.check_imported("TensorFlow").state == state


@pytest.mark.parametrize(
    ("tensorflow", "keras", "text"),
    [
        ("2.15.1", "2.15.0", "2.15.0"),
        ("2.21.0", "2.15.0", "2.15.0, but the labs need ==2.21.*"),
        ("2.21.0", "3.12.4", "3.12.4, but the labs need ==2.21.*"),
    ],
)
def test_keras_is_that_of_the_tensorflow_found(tensorflow, keras, text, facts):
    """Keras 2 of the same release as TensorFlow is good."""
    facts(TensorFlow={"version": tensorflow}, Keras={"version": keras})
    assert doctor.check_imported("Keras").text == text


def test_a_horovod_that_joins_nobody_is_wrong(facts):
    """With neither Gloo nor MPI no ranks are tried."""
    facts(Horovod={"version": metadata.version("horovod"), "controllers": []})
    horovod, allreduce = doctor.check_horovod(), doctor.check_allreduce()
    assert (horovod.state, horovod.text.partition(", ")[2]) == ("wrong", "with no controller")
    assert (allreduce.state, allreduce.text) == ("wrong", "not tried: Horovod joins no ranks")
    assert horovod.remedy == allreduce.remedy == TAKE_ANOTHER


def test_horovod_with_mpi_alone_needs_its_launcher(facts, monkeypatch):
    """As conda and centres build it; notebooks start ranks by mpirun then."""
    facts(Horovod={"version": metadata.version("horovod"), "controllers": ["MPI"]})
    monkeypatch.setattr(doctor, "mpirun", lambda: "/usr/bin/mpirun")
    assert doctor.check_horovod().state == "good"
    monkeypatch.setattr(doctor, "mpirun", lambda: None)
    without = doctor.check_horovod()
    assert (without.state, without.remedy) == ("wrong", NO_MPIRUN)


def test_published_weaknesses_hinder_nothing_and_are_explained():
    """Those that the doctor names are those of the page on security."""
    finding = doctor.check_weaknesses()
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    assert (finding.state, finding.hinders) == ("good", False)
    assert re.findall(r"CVE-[\d-]+\d", finding.text) == re.findall(r"^\| \[(CVE-[\d-]+\d)\]", page, re.MULTILINE)


@pytest.mark.parametrize(
    ("gpus", "operations", "text"),
    [
        ([], [], "built without NCCL: fine on CPUs"),
        (["A100"], [], f"built without NCCL: {doctor.THROUGH_HOST}"),
        (["A100"], ["NCCL"], "NCCL"),
    ],
)
def test_the_way_of_gradients_is_said(gpus, operations, text, facts):
    """Which Horovod make env has made; without NCCL nothing is hindered."""
    facts(TensorFlow={"gpus": gpus}, Horovod={"gpu_operations": operations})
    finding = doctor.check_gpu_operations()
    assert (finding.text, finding.hinders) == (text, False)


@pytest.fixture
def bare_path(programs, monkeypatch):
    """A PATH with nothing on it but the programs of the test."""
    monkeypatch.setenv("PATH", str(programs.folder))


@pytest.mark.parametrize(
    ("with_cuda", "text", "remedy"),
    [
        (False, "the machine has 2, but TensorFlow is one for CPUs", "COURSEKIT_GPUS=host make env"),
        (True, "the machine has 2, but TensorFlow sees none", "CUDA 12 takes a driver from 525 on"),
    ],
)
@pytest.mark.usefixtures("bare_path")
def test_gpus_tensorflow_cannot_use_are_wrong(programs, facts, with_cuda, text, remedy):
    """A machine without any is told apart from one whose GPUs a TensorFlow for CPUs, or a driver, hides."""
    facts(TensorFlow={"gpus": [], "with_cuda": with_cuda})
    assert doctor.check_gpus().state == "missing"

    programs("nvidia-smi", "echo 'GPU 0: NVIDIA A100 (UUID: 1)'; echo 'GPU 1: NVIDIA A100 (UUID: 2)'")
    finding = doctor.check_gpus()

    assert (finding.state, finding.text) == ("wrong", text)
    assert finding.remedy.startswith(remedy)


@pytest.mark.usefixtures("bare_path")
def test_slurm_and_the_allocation(programs, monkeypatch):
    """What the caller's shell says of `sinfo` hides no partition, and a job that has ended is no allocation."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("SINFO_PARTITION", "none")
    assert [doctor.check_slurm().state, doctor.check_allocation().state] == ["missing", "missing"]

    programs("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1")
    silent = doctor.check_slurm()
    assert (silent.state, silent.hinders) == ("wrong", False)
    assert silent.text == "does not answer: slurm_load_partitions: Unable to contact slurm controller"

    programs("sinfo", "echo short; echo gpu; echo gpu$SINFO_PARTITION")
    programs("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert doctor.check_slurm() == Finding("Slurm", "good", "partitions: gpu, short", needed=False)
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    ended = doctor.check_allocation()
    assert (ended.state, "77" in ended.text, "COURSEKIT_RANKS=local" in ended.remedy) == ("wrong", True, True)
    programs("squeue", "echo RUNNING")
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert doctor.check_allocation() == Finding("Allocation", "good", "job 77 with 8 tasks", needed=False)


def test_pytorch_is_for_some_labs_only(monkeypatch):
    """Its version when it is there; without it, what to do, and the other labs can run."""
    monkeypatch.setattr(metadata, "version", {"torch": "2.13.0"}.__getitem__)
    assert doctor.check_pytorch() == Finding("PyTorch", "good", "2.13.0", needed=False)

    def not_there(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", not_there)
    missing = doctor.check_pytorch()
    assert (missing.state, missing.hinders, "make torch" in missing.remedy) == ("missing", False, True)


@pytest.mark.usefixtures("bare_path")
def test_a_machine_without_sandbox_can_run_labs(programs):
    """Bubblewrap that is not there, and one that may not make namespaces, whose reason is quoted."""
    missing = doctor.check_sandbox()
    assert (missing.state, missing.hinders, "bubblewrap is not installed" in missing.text) == ("missing", False, True)

    programs("bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    wrong = doctor.check_sandbox()
    assert (wrong.state, wrong.hinders, "(bwrap: No permissions" in wrong.text) == ("wrong", False, True)


@pytest.mark.needs("bwrap")
def test_a_sandbox_that_starts_is_good():
    """The line has bubblewrap's own version, and whether the account that asks is root."""
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    who = "as root" if getpass.getuser() == "root" else "without root"
    assert doctor.check_sandbox() == Finding("Grading sandbox", "good", f"{version} starts it {who}", needed=False)


def test_node_is_this_machine():
    """The line has the node's name and the cores this process may use (nproc)."""
    node, cores = (
        subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        for words in (["uname", "-n"], ["nproc"])
    )

    assert doctor.check_node().text.startswith(f"{node}: {cores} CPU cores for this process, ")


def test_space_is_what_df_says(tmp_path, monkeypatch):
    """Free space is what a user can still write; too little, and a folder that is not there, hinder."""
    words = ["df", "--output=avail", "--block-size=1", str(tmp_path)]
    free_gb = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1e9

    finding = doctor.check_space("home", tmp_path)
    assert float(finding.text.split()[0]) == pytest.approx(free_gb, abs=0.5)
    assert finding.state == ("good" if free_gb >= 1 else "wrong")

    monkeypatch.setitem(doctor.SPACE_NEEDED_GB, "home", 10**6)
    finding = doctor.check_space("home", tmp_path)
    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.remedy.startswith("free 1000000 GB")
    assert doctor.check_space("home", tmp_path / "nothing").hinders


def test_allreduce_that_fails_is_wrong(shadow):
    """When ranks cannot start, the line says why."""
    shadow("horovod", "raise ImportError('libmpi.so.40: cannot open shared object file')")

    finding = doctor.check_allreduce()

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert "libmpi.so.40" in finding.text


def own_number():
    """Measure on a rank what an allreduce that adds nothing gives: the rank's own number."""
    import horovod.tensorflow as hvd

    hvd.init()
    return hvd.rank() + 1.0, 1.0


def test_wrong_sum_fails(monkeypatch):
    """An allreduce that does not add is no allreduce."""
    monkeypatch.setattr(probe, "measure", own_number)

    with pytest.raises(RuntimeError, match=r"the ranks got the sums \[1\.0, 2\.0\], not 3"):
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
    assert any(line.split()[:3] == ["TensorFlow", "missing", "cannot"] for line in lines)
    assert "PYTHONPATH leads to another tensorflow" in " ".join(output.split())
