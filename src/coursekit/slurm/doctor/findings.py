"""What a check of the doctor finds, the programs that checks ask, and the checks of versions.

Versions are those that this package asks for in its metadata, against those that are installed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from coursekit.paths import closed_to_others, shadowed
from coursekit.processes import signal_name
from coursekit.ranks.environ import scrubbed

State = Literal["good", "missing", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's table.

    Attributes:
        name: What was looked at.
        state: "good", "missing" (not there) or "wrong" (there, but not as the labs need it).
        text: What was found.
        remedy: What to do about it; empty when good.
        needed: Whether the labs cannot do without it.
    """

    name: str
    state: State
    text: str
    remedy: str = ""
    needed: bool = True

    @property
    def hinders(self) -> bool:
        """Whether the labs cannot run before this is fixed."""
        return self.needed and self.state != "good"


@dataclass(frozen=True)
class ProgramAnswer:
    """What a program said.

    Attributes:
        status: Its exit status; None when it could not be started or was stopped at the limit.
        output: Its standard output, stripped.
        complaint: The last line of its standard error, or why there is no exit status.
    """

    status: int | None
    output: str
    complaint: str


def ask(command: Sequence[str], limit_s: float, environ: Mapping[str, str] | None = None) -> ProgramAnswer:
    """Run a program with a time limit and a clean environment; never raises, and leaves no process behind."""
    try:
        process = subprocess.Popen(
            command,
            env={**(scrubbed() if environ is None else environ), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        return ProgramAnswer(None, "", str(error))
    with process:
        try:
            output, complaints = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return ProgramAnswer(None, "", f"no answer within {limit_s:g} s")
        finally:
            # Its own session: whatever it started and left running ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return ProgramAnswer(process.returncode, output.strip(), last_words(process.returncode, complaints))


def last_words(status: int, complaints: str) -> str:
    """Return the last line of a program's standard error; without one, how it ended."""
    if status < 0:
        return f"ended by {signal_name(-status)}"
    lines = complaints.strip().splitlines()
    return lines[-1].strip() if lines else f"exit status {status}"


PROBE_LIMIT_S = 600  # on a cold file system, or a busy machine
MAKE_ENV = "run make env and use .venv/bin/coursekit, or use conda (conda env create -f environment.yml)"


def required(name: str) -> list[SpecifierSet]:
    """Return the versions of a package that this package asks for, itself or in an extra; one of them will do."""
    requirements = (Requirement(line) for line in metadata.requires("coursekit") or ())
    return [requirement.specifier for requirement in requirements if requirement.name == name]


def same_minor(version: str) -> SpecifierSet:
    """Widen 2.15.1 to `==2.15.*`: sites and conda build another patch release of the same TensorFlow."""
    major, minor, *_ = version.split(".")
    return SpecifierSet(f"=={major}.{minor}.*")


def tensorflow_releases() -> list[SpecifierSet]:
    """Return the releases of TensorFlow that the labs run on, each with all its patch releases."""
    return [same_minor(pin.version) for exact in required("tensorflow-cpu") for pin in exact]


def compare(name: str, version: str, wanted: Sequence[SpecifierSet]) -> Finding:
    """Return whether a version is one of those wanted."""
    if any(Version(version) in each for each in wanted):
        return Finding(name, "good", version)
    text = f"{version}, but the labs need {' or '.join(map(str, wanted))}"
    return Finding(name, "wrong", text, shadowed() or MAKE_ENV)


def check_python() -> Finding:
    """Look at the Python that runs this."""
    wanted = SpecifierSet(metadata.metadata("coursekit")["Requires-Python"])
    finding = compare("Python", platform.python_version(), [wanted])
    why = closed_to_others()
    text = f"{finding.text} ({sys.executable}{why and f'; {why}'})"
    return Finding(finding.name, finding.state, text, finding.remedy)


def check_package(name: str, title: str) -> Finding:
    """Look at an installed package that the labs need."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(title, "missing", "not installed", MAKE_ENV)
    return compare(title, version, required(name))


def probe(kind: str) -> dict[str, Any]:
    """Return what the module `probe` says of "tensorflow", "keras" or "horovod"; `{"error": …}` if that is broken."""
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
    return Finding(title, state, f"cannot be imported: {error}", shadowed() or MAKE_ENV)


def check_imported(title: str, facts: Mapping[str, Any]) -> Finding:
    """Look at TensorFlow, Keras or Horovod, of which the module `probe` says this.

    Keras must have TensorFlow's own version: Horovod does not work with Keras 3.
    """
    if "error" in facts:
        return not_imported(title, facts["error"])
    if title == "Keras" and (tensorflow := probe("tensorflow").get("tensorflow")):
        wanted = [same_minor(tensorflow)]
    else:
        wanted = required("horovod") if title == "Horovod" else tensorflow_releases()
    return compare(title, facts[title.lower()], wanted)
