"""What other programs say, and that none outlives its limit; versions, against the installers' records."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet

from coursekit import KERAS
from coursekit.slurm.doctor import findings
from coursekit.slurm.doctor.findings import Finding, ProgramAnswer, ask

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


def test_only_what_is_needed_hinders():
    """What only some sites have may be missing or wrong."""
    hindering = {
        (state, needed)
        for state in ("good", "missing", "wrong")
        for needed in (True, False)
        if Finding("name", state, "text", needed=needed).hinders
    }

    assert hindering == {("missing", True), ("wrong", True)}


@pytest.fixture
def shadow(tmp_path, monkeypatch):
    """A function that puts a package of the given name and source before the real one, for all programs started."""

    def write(name, source):
        package = tmp_path / "broken" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))

    findings.probe_all.cache_clear()
    yield write
    findings.probe_all.cache_clear()


def checked(title):
    """Return what is found about a package in a process apart."""
    return findings.check_imported(title, findings.probe(title.lower()))


def test_imported_versions_are_those_installed():
    """What TensorFlow, Keras and Horovod say of themselves is what the installer wrote down, and good."""
    found = [checked("TensorFlow"), checked("Keras"), checked("Horovod")]

    assert found == [
        Finding("TensorFlow", "good", metadata.version("tensorflow-cpu")),
        Finding("Keras", "good", metadata.version(KERAS)),
        Finding("Horovod", "good", metadata.version("horovod")),
    ]


def test_python_is_the_one_that_runs():
    """The line about Python says which one, since sites have many."""
    assert findings.check_python() == Finding("Python", "good", f"{platform.python_version()} ({sys.executable})")


def test_tensorflow_that_cannot_be_imported_is_wrong(shadow):
    """A TensorFlow that is there but broken is wrong, with the reason; Horovod on top of it is wrong as well."""
    shadow("tensorflow", "raise ImportError('libcudart.so: cannot open shared object file')")

    finding = checked("TensorFlow")

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.text == "cannot be imported: ImportError: libcudart.so: cannot open shared object file"
    assert "PYTHONPATH" in finding.remedy
    assert checked("Horovod").state == "wrong"


def test_tensorflow_that_crashes_does_not_take_the_doctor_with_it(shadow):
    """A TensorFlow compiled for another processor ends its process: the doctor names the signal and lives on."""
    shadow("tensorflow", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")

    finding = checked("TensorFlow")

    assert (finding.state, finding.text) == ("wrong", "cannot be imported: ended by SIGILL")


def test_horovod_that_is_not_there_is_missing(shadow):
    """A Horovod that is not installed is missing, not wrong, while TensorFlow's line stays good."""
    shadow("horovod", "raise ModuleNotFoundError(\"No module named 'horovod'\")")

    assert checked("Horovod").state == "missing"
    assert checked("TensorFlow").state == "good"


def test_package_that_is_not_there_is_missing():
    """A package without an installer's record is missing, with what to do."""
    finding = findings.check_package("coursekit-has-no-such-package", "Nothing")

    assert finding == Finding("Nothing", "missing", "not installed", findings.MAKE_ENV)


def test_version_outside_those_asked_for_is_wrong():
    """The line says what is there and what the labs need."""
    finding = findings.compare("nbgrader", "0.8.4", [SpecifierSet(">=0.9.5,<0.10")])

    assert (finding.state, finding.text) == ("wrong", "0.8.4, but the labs need <0.10,>=0.9.5")


@pytest.mark.parametrize(
    ("version", "state"), [("2.15.0", "good"), ("2.15.1", "good"), ("2.16.2", "wrong"), ("2.21.3", "good")]
)
def test_any_patch_release_of_tensorflow_will_do(version, state):
    """A site's TensorFlow 2.15.0 is as good as the pinned 2.15.1, and any 2.21; what lies between is not tested."""
    assert findings.compare("TensorFlow", version, findings.tensorflow_releases()).state == state


@pytest.mark.parametrize(
    ("tensorflow", "keras", "text"),
    [
        ("2.21.0", "2.21.0", "2.21.0"),
        ("2.15.1", "2.15.0", "2.15.0"),
        ("2.21.0", "2.15.0", "2.15.0, but the labs need ==2.21.*"),
        ("2.21.0", "3.12.4", "3.12.4, but the labs need ==2.21.*"),
    ],
)
def test_keras_is_that_of_the_tensorflow_found(tensorflow, keras, text, monkeypatch):
    """Keras 2 of the same release as TensorFlow is good; a stand-in for the probe names some."""
    monkeypatch.setattr(findings, "probe", {"tensorflow": {"tensorflow": tensorflow}}.get)

    assert findings.check_imported("Keras", {"keras": keras}).text == text
