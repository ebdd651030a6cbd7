"""The pins in environment.yml, the locks, tools/ and pyproject.toml say the same."""

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


MAKE_ENV = (ROOT / "tools" / "make-env").read_text()
# Each TensorFlow that `make env` takes, with the Python versions that it may run on.
PYTHONS = {
    tensorflow: [f"3.{minor}" for minor in minors.split()]
    for tensorflow, minors in re.findall(r"^([\d.]+)\) minors=\"(.*)\" ;;$", MAKE_ENV, re.MULTILINE)
}
BUILT = read_lock(ROOT / "tools" / "build-requirements.lock", "3.11")  # what `make env` fetches beside it
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
*CONDA, PIP = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
PACKAGES = dict(entry.split("=")[:2] if "=" in entry else (entry, "") for entry in CONDA)
*BY_PIP, ITSELF = PIP["pip"]
TENSORFLOW = PACKAGES["tensorflow"].removesuffix(".*")
LOCKED = read_lock(ROOT / f"requirements-{TENSORFLOW}.lock", "3.11")


def names(requirements, python="3.11"):
    """Return the names of requirements that count for a Python version."""
    parsed = [Requirement(requirement) for requirement in requirements]
    return {each.name for each in parsed if each.marker is None or each.marker.evaluate({"python_version": python})}


def test_conda_has_what_the_project_asks_for():
    """environment.yml lists what notebooks import, what authors use, TensorFlow and Horovod, and nothing else."""
    extras = PROJECT["optional-dependencies"]
    wanted = names(
        [*PROJECT["dependencies"], *extras["authoring"], *extras[f"tensorflow-{TENSORFLOW}"], *extras["horovod"]]
    )

    assert {CONDA_NAMES.get(name, name) for name in wanted} | ONLY_CONDA == {*PACKAGES, *names(BY_PIP)}
    assert ITSELF == "--editable ."


def test_conda_pins_are_those_of_the_lock():
    """Each package has the version locked for Python 3.11; of TensorFlow, any patch of the same release."""
    versions = {name: version for name, version in PACKAGES.items() if name not in ONLY_CONDA}
    expected = {
        CONDA_NAMES.get(name, name): version for name, version in {**LOCKED, "horovod": BUILT["horovod"]}.items()
    }
    expected["tensorflow"] = re.sub(r"\d+$", "*", LOCKED["tensorflow-cpu"])

    assert versions == {name: expected[name] for name in versions}
    assert [f"{name}=={LOCKED[name]}" for name in sorted(names(BY_PIP))] == BY_PIP
    assert PACKAGES["python"] == "3.11.*"


def test_each_tensorflow_has_its_pythons():
    """The old TensorFlow runs on 3.10 and 3.11, today's on 3.10 to 3.13; the package takes any of them."""
    assert PYTHONS == {"2.15": ["3.11", "3.10"], "2.21": ["3.13", "3.12", "3.11", "3.10"]}
    assert PROJECT["requires-python"] == ">=3.10,<3.14"


@pytest.mark.parametrize(("tensorflow", "python"), [(each, python) for each in PYTHONS for python in PYTHONS[each]])
def test_project_asks_for_what_is_locked(tensorflow, python):
    """Every requirement of pyproject.toml accepts the pin in each TensorFlow's lock, with each Python."""
    extras = PROJECT["optional-dependencies"]
    others = {f"tensorflow-{each}" for each in PYTHONS if each != tensorflow}
    lines = [line for name, extra in extras.items() if name not in others for line in extra]
    pins = {**read_lock(ROOT / f"requirements-{tensorflow}.lock", python), "horovod": BUILT["horovod"]}
    on_gpus = read_lock(ROOT / "tools" / f"gpu-requirements-{tensorflow}.lock", python)

    for requirement in map(Requirement, [*PROJECT["dependencies"], *lines]):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
            assert requirement.specifier.contains(pins[requirement.name]), str(requirement)
    assert on_gpus["tensorflow"] == pins["tensorflow-cpu"]


def test_cuda_is_what_tensorflow_names():
    """`make env` on a machine with GPUs takes the libraries of TensorFlow's own extra, in versions that it takes."""
    version = metadata.version("tensorflow-cpu")
    named = [Requirement(line) for line in metadata.requires("tensorflow-cpu")]
    extra = {"python_version": "3.11", "extra": "and-cuda"}
    wanted = {r.name: r.specifier for r in named if "and-cuda" in str(r.marker) and r.marker.evaluate(extra)}
    lock = ROOT / "tools" / f"gpu-requirements-{version.rpartition('.')[0]}.lock"
    locked = read_lock(lock, "3.11")

    assert locked.pop("tensorflow") == version
    assert set(locked) == set(wanted)
    assert [name for name, pinned in locked.items() if not wanted[name].contains(pinned)] == []
    assert len(wanted) == 12


def test_no_index_address_is_written_down():
    """Sites with a mirror set its address for pip and uv; none may be fixed here."""
    locks = [*ROOT.glob("requirements-*.lock"), *(ROOT / "tools").glob("*-requirements*")]
    texts = {path.name: path.read_text() for path in [ROOT / "environment.yml", *locks]}
    assert len(texts) >= 11
    address = r"https?://|--(?:extra-)?index-url|--find-links"
    assert [name for name, text in texts.items() if re.search(address, text)] == []
