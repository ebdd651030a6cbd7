"""environment.yml asks conda for what pyproject.toml asks pip for, in ranges that admit the versions in the lock."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"matplotlib": "matplotlib-base", "tensorflow-cpu": "tensorflow"}
ONLY_CONDA = {"python", "pip", "openmpi"}
WITH_CONDAS_PYTHON = {"tomli", "tzdata"}  # a module and time zones, which it has from 3.11 on
PYTHONS = ("3.11", "3.12")


def range_of(spec):
    """Return name and range of a line for conda, in which =1.2 is any 1.2, and =1.2=build is 1.2 itself."""
    name, version, build, operators = re.fullmatch(r"([\w-]+)(?:=([\d.]+)(=.+)?|([<>].+)?)", spec).groups()
    if version:
        return name, SpecifierSet(f"=={version}" if build else f"=={version}.*")
    return name, SpecifierSet(operators or "")


def asked_of_conda():
    """Return name to range of all that environment.yml lists."""
    *specs, pip = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    *by_pip, itself = pip["pip"]
    assert itself == "--editable ."
    return dict(map(range_of, specs)) | {each.name: each.specifier for each in map(Requirement, by_pip)}


def asked_of_pip():
    """Return name, as conda has it, to range of what a checkout with TensorFlow 2.21 needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = ("authoring", "tensorflow-2.21", "horovod")
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return {CONDA_NAMES.get(each.name, each.name): each.specifier for each in map(Requirement, lines)}


def locked(python):
    """Return name, as conda has it, to version of what `make env` installs on Linux with this Python."""
    variables = {"python_full_version": f"{python}.9", "python_version": python, "sys_platform": "linux"}
    locks = (ROOT / "requirements-2.21.lock", ROOT / "tools" / "build-requirements.lock")
    lines = (line for lock in locks for line in re.findall(r"^\w.*(?= \\$)", lock.read_text(), re.MULTILINE))
    pins = (each for each in map(Requirement, lines) if each.marker is None or each.marker.evaluate(variables))
    return {CONDA_NAMES.get(each.name, each.name): str(each.specifier).removeprefix("==") for each in pins}


def test_conda_is_asked_for_what_pip_is_asked_for():
    """The same packages in the same ranges, and Python, pip and MPI, which pip does not install."""
    conda, pip = asked_of_conda(), asked_of_pip()

    assert {name: conda[name] for name in conda if name not in ONLY_CONDA} == {
        name: pip[name] for name in pip if name not in WITH_CONDAS_PYTHON
    }
    assert set(conda) >= ONLY_CONDA


def test_conda_chooses_a_python_that_has_what_the_list_leaves_out():
    """Each is one of `make env`'s, with `tomllib`, and one of those that conda-forge builds Horovod for."""
    minors = [f"3.{minor}" for minor in range(20)]

    assert tuple(asked_of_conda()["python"].filter(minors)) == PYTHONS


@pytest.mark.parametrize("python", PYTHONS)
def test_conda_may_take_the_tested_versions(python):
    """Each range admits the version that is locked for this Python."""
    pins = locked(python)
    ranges = {name: found for name, found in asked_of_conda().items() if name not in ONLY_CONDA}

    assert [(name, pins[name]) for name, found in ranges.items() if not found.contains(pins[name])] == []


def test_conda_may_take_the_nbgrader_that_it_has():
    """conda-forge had 0.9.5 where PyPI had 0.9.6."""
    assert asked_of_conda()["nbgrader"].contains("0.9.5")
