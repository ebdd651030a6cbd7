"""The doctor's checks of versions, against the installers' records and with broken installations."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet

from coursekit.slurm.doctor import versions
from coursekit.slurm.doctor.findings import Finding


@pytest.fixture
def shadow(tmp_path, monkeypatch):
    """A function that puts a package of the given name and source before the real one, for all programs started."""

    def write(name, source):
        package = tmp_path / "broken" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))

    versions.probe_all.cache_clear()
    yield write
    versions.probe_all.cache_clear()


def test_imported_versions_are_those_installed():
    """What TensorFlow, Keras and Horovod say of themselves is what the installer wrote down, and good."""
    findings = [versions.check_tensorflow(), versions.check_keras(), versions.check_horovod()]

    assert findings == [
        Finding("TensorFlow", "good", metadata.version("tensorflow-cpu")),
        Finding("Keras", "good", metadata.version("keras")),
        Finding("Horovod", "good", metadata.version("horovod")),
    ]


def test_python_is_the_one_that_runs():
    """The line about Python says which one, since sites have many."""
    assert versions.check_python() == Finding("Python", "good", f"{platform.python_version()} ({sys.executable})")


def test_tensorflow_that_cannot_be_imported_is_wrong(shadow):
    """A TensorFlow that is there but broken is wrong, with the reason; Horovod on top of it is wrong as well."""
    shadow("tensorflow", "raise ImportError('libcudart.so: cannot open shared object file')")

    finding = versions.check_tensorflow()

    assert (finding.state, finding.hinders) == ("wrong", True)
    assert finding.text == "cannot be imported: ImportError: libcudart.so: cannot open shared object file"
    assert "make env" in finding.remedy
    assert versions.check_horovod().state == "wrong"


def test_tensorflow_that_crashes_does_not_take_the_doctor_with_it(shadow):
    """A TensorFlow compiled for another processor ends its process: the doctor names the signal and lives on."""
    shadow("tensorflow", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")

    finding = versions.check_tensorflow()

    assert (finding.state, finding.text) == ("wrong", "cannot be imported: ended by SIGILL")


def test_horovod_that_is_not_there_is_missing(shadow):
    """A Horovod that is not installed is missing, not wrong, while TensorFlow's line stays good."""
    shadow("horovod", "raise ModuleNotFoundError(\"No module named 'horovod'\")")

    assert versions.check_horovod().state == "missing"
    assert versions.check_tensorflow().state == "good"


def test_package_that_is_not_there_is_missing():
    """A package without an installer's record is missing, with what to do."""
    finding = versions.check_package("coursekit-has-no-such-package", "Nothing")

    assert finding == Finding("Nothing", "missing", "not installed", versions.MAKE_ENV)


def test_version_outside_those_asked_for_is_wrong():
    """The line says what is there and what the labs need."""
    finding = versions.compare("nbgrader", "0.8.4", SpecifierSet(">=0.9.5,<0.10"))

    assert (finding.state, finding.text) == ("wrong", "0.8.4, but the labs need <0.10,>=0.9.5")


@pytest.mark.parametrize(("version", "state"), [("2.15.0", "good"), ("2.15.1", "good"), ("2.16.2", "wrong")])
def test_any_patch_release_of_tensorflow_will_do(version, state):
    """A site's TensorFlow 2.15.0 is as good as the pinned 2.15.1; 2.16 brings Keras 3 and is not."""
    wanted = versions.same_minor(versions.required("tensorflow-cpu"))

    assert versions.compare("TensorFlow", version, wanted).state == state
