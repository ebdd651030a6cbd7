"""The pins in environment.yml, requirements.lock, tools/ and pyproject.toml say the same."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
# What conda-forge calls differently: matplotlib-base is matplotlib without a window toolkit.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "tensorflow-cpu": "tensorflow"}
# What the other way of installing has no use for.
ONLY_CONDA = {"python", "pip", "openmpi"}


def read_lock(path, python):
    """Return name and version of all packages that a lock file pins for a Python version."""
    lines = re.findall(r"^[a-z0-9].*?(?= \\$)", path.read_text(), re.MULTILINE)
    requirements = [Requirement(line) for line in lines]
    variables = {"python_full_version": f"{python}.0", "python_version": python, "sys_platform": "linux"}
    return {
        requirement.name: next(iter(requirement.specifier)).version
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(variables)
    }


@pytest.fixture
def locked():
    """Name and version of what requirements.lock pins for Python 3.11."""
    return read_lock(ROOT / "requirements.lock", "3.11")


@pytest.fixture
def built():
    """Name and version of what `make env` fetches beside requirements.lock."""
    return read_lock(ROOT / "tools" / "build-requirements.lock", "3.11")


@pytest.fixture
def project():
    """The table `project` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture
def conda():
    """Name, version and build of conda's packages, and pip's lines, in environment.yml."""
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    packages = {}
    for entry in dependencies:
        if isinstance(entry, str):
            name, version, build = [*entry.split("="), "", ""][:3]
            packages[name] = (version, build)
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    return packages, pip


def names(requirements, python="3.11"):
    """Return the names of requirements that count for a Python version."""
    parsed = [Requirement(requirement) for requirement in requirements]
    return {each.name for each in parsed if each.marker is None or each.marker.evaluate({"python_version": python})}


def test_conda_has_what_the_project_asks_for(conda, project):
    """environment.yml lists what notebooks import, what authors use, TensorFlow and Horovod, and nothing else."""
    extras = project["optional-dependencies"]
    wanted = names([*project["dependencies"], *extras["authoring"], *extras["tensorflow"], *extras["horovod"]])

    packages, pip = conda

    assert {CONDA_NAMES.get(name, name) for name in wanted} | ONLY_CONDA == set(packages)
    assert pip == ["--editable ."]


def test_conda_pins_are_those_of_the_lock(conda, locked, built):
    """Each package has the version locked for Python 3.11; of TensorFlow, any patch of the same release."""
    packages, _ = conda
    versions = {name: version for name, (version, _) in packages.items() if name not in ONLY_CONDA}
    expected = {
        CONDA_NAMES.get(name, name): version for name, version in {**locked, "horovod": built["horovod"]}.items()
    }
    expected["tensorflow"] = re.sub(r"\d+$", "*", locked["tensorflow-cpu"])

    assert versions == {name: expected[name] for name in versions}
    assert packages["python"] == ("3.11.*", "")


def test_conda_builds_fit_together(conda):
    """TensorFlow and Horovod are the CPU builds, and Horovod's is the one for the Open MPI listed."""
    packages, _ = conda

    assert (packages["tensorflow"][1], packages["horovod"][1]) == ("cpu*", "cpu_mpi_openmpi*")
    assert packages["openmpi"] == ("4.*", "")


def test_project_asks_for_what_is_locked(project, locked, built):
    """Every requirement of pyproject.toml accepts its pin, with Python 3.9, 3.10 and 3.11."""
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    for python in ("3.9", "3.10", "3.11"):
        pins = {**read_lock(ROOT / "requirements.lock", python), "horovod": built["horovod"]}
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
                assert requirement.specifier.contains(pins[requirement.name]), f"{requirement} with Python {python}"

    assert built["tensorflow"] == locked["tensorflow-cpu"]


def test_cuda_is_what_tensorflow_names(built):
    """`make env` on a machine with GPUs takes the libraries of TensorFlow's own extra, in the versions it pins."""
    named = [Requirement(line) for line in metadata.requires("tensorflow-cpu")]
    extra = {"python_version": "3.11", "extra": "and-cuda"}
    wanted = {r.name: str(r.specifier) for r in named if "and-cuda" in str(r.marker) and r.marker.evaluate(extra)}
    locked = read_lock(ROOT / "tools" / "gpu-requirements.lock", "3.11")

    assert metadata.version("tensorflow-cpu") == built["tensorflow"]
    assert {name: f"=={version}" for name, version in locked.items()} == wanted
    assert len(wanted) == 12


def test_every_pin_has_hashes():
    """An index that was tampered with is noticed: no package is installed without a hash."""
    for lock in ("requirements.lock", "tools/build-requirements.lock", "tools/gpu-requirements.lock"):
        blocks = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]

        assert blocks
        assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_no_index_address_is_written_down():
    """Sites with a mirror set its address for pip and uv; none may be fixed here."""
    for name in (
        "requirements.lock",
        "tools/build-requirements.lock",
        "tools/build-requirements.in",
        "tools/gpu-requirements.lock",
        "tools/gpu-requirements.in",
        "environment.yml",
    ):
        text = (ROOT / name).read_text()

        assert re.findall(r"https?://|--(?:extra-)?index-url|--find-links", text) == []
