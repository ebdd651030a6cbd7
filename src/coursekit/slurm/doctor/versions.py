"""Checks of versions: what this package asks for in its metadata, against what is installed."""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from coursekit.slurm.doctor.findings import Finding, State, ask

PROBE_LIMIT_S = 600  # on a cold file system, or a busy machine
MAKE_ENV = "run make env and use .venv/bin/coursekit, or use conda (conda env create -f environment.yml)"


def required(name: str) -> SpecifierSet:
    """Return the versions of a package that this package asks for; its extras are searched too."""
    requirements = (Requirement(line) for line in metadata.requires("coursekit") or ())
    return next(requirement.specifier for requirement in requirements if requirement.name == name)


def same_minor(exact: SpecifierSet) -> SpecifierSet:
    """Widen `==2.15.1` to `==2.15.*`: sites and conda build another patch release of the same TensorFlow."""
    (pin,) = exact
    release = Version(pin.version).release
    return SpecifierSet(f"=={release[0]}.{release[1]}.*")


def compare(name: str, version: str, wanted: SpecifierSet) -> Finding:
    """Return whether a version is one of those wanted."""
    if Version(version) in wanted:
        return Finding(name, "good", version)
    return Finding(name, "wrong", f"{version}, but the labs need {wanted}", MAKE_ENV)


def check_python() -> Finding:
    """Look at the Python that runs this."""
    wanted = SpecifierSet(metadata.metadata("coursekit")["Requires-Python"])
    finding = compare("Python", platform.python_version(), wanted)
    return Finding(finding.name, finding.state, f"{finding.text} ({sys.executable})", finding.remedy)


def check_package(name: str, title: str) -> Finding:
    """Look at an installed package that the labs need."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(title, "missing", "not installed", MAKE_ENV)
    return compare(title, version, required(name))


def probe(kind: str) -> dict[str, Any]:
    """Return what the module `probe` says of "tensorflow" or "horovod"; `{"error": …}` if that is broken."""
    facts, complaint = probe_all()
    return facts.get(kind, {"error": complaint})


@cache
def probe_all() -> tuple[dict[str, dict[str, Any]], str]:
    """Run the probe once; return its facts by kind, and its last words for the kinds it did not live to tell."""
    answer = ask([sys.executable, "-m", "coursekit.slurm.doctor.probe"], PROBE_LIMIT_S)
    facts: dict[str, dict[str, Any]] = {}
    for line in answer.output.splitlines():
        if line.startswith("{"):
            facts |= json.loads(line)
    return facts, answer.complaint


def not_imported(title: str, error: str) -> Finding:
    """Return the finding for a package that cannot be imported: not there, or there and broken."""
    state: State = "missing" if error.startswith("ModuleNotFoundError") else "wrong"
    return Finding(title, state, f"cannot be imported: {error}", MAKE_ENV)


def check_tensorflow() -> Finding:
    """Look at the TensorFlow that can be imported."""
    facts = probe("tensorflow")
    if "error" in facts:
        return not_imported("TensorFlow", facts["error"])
    return compare("TensorFlow", facts["tensorflow"], same_minor(required("tensorflow-cpu")))


def check_keras() -> Finding:
    """Look at Keras, whose version must be TensorFlow's own: Horovod does not work with Keras 3."""
    facts = probe("tensorflow")
    if "error" in facts:
        return not_imported("Keras", facts["error"])
    return compare("Keras", facts["keras"], same_minor(required("tensorflow-cpu")))


def check_horovod() -> Finding:
    """Look at the Horovod that can be imported."""
    facts = probe("horovod")
    if "error" in facts:
        return not_imported("Horovod", facts["error"])
    return compare("Horovod", facts["horovod"], required("horovod"))
