"""What a kernel has, as the doctor's findings: it is asked itself, in the process in which notebooks would run."""

from __future__ import annotations

import time
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from coursekit.jupyter.kernels.conversation import NotStartedError, running
from coursekit.jupyter.kernels.installed import log_file
from coursekit.slurm.doctor import allreduce
from coursekit.slurm.doctor.findings import Finding
from coursekit.slurm.doctor.machine import ALLREDUCE_LIMIT_S, check_allocation, judge_allreduce
from coursekit.slurm.doctor.versions import MAKE_ENV, compare, not_imported, required, same_minor

if TYPE_CHECKING:
    from coursekit.jupyter.kernels.conversation import KernelConversation

QUICK_LIMIT_S, IMPORT_LIMIT_S = 120, 600  # on the wall, which is all that Jupyter knows
# The first question needs nothing but Python: whatever else is broken, it is answered.
ABOUT_PYTHON = """\
import json, os, platform, sys
slurm = {name: value for name, value in os.environ.items() if name.startswith("SLURM_")}
print(json.dumps({"python": platform.python_version(), "executable": sys.executable, "variables": slurm}))
"""
ABOUT_COURSEKIT = """\
import json, coursekit
print(json.dumps({"version": coursekit.__version__, "folder": coursekit.__path__[0]}))
"""
ABOUT_PACKAGES = "from coursekit.slurm.doctor import probe; probe.main()"
ABOUT_RANKS = "from coursekit.slurm.doctor import allreduce; _ = allreduce.main()"


def examine(name: str, timeout_s: float) -> list[Finding]:
    """Start a kernel, ask it everything, stop it, and return the findings in the order of the table."""
    started_s = time.monotonic()
    try:
        with running(name, timeout_s) as kernel:
            needed_s = time.monotonic() - started_s
            started = Finding("Kernel", "good", f"{name}, started in {needed_s:.1f} s")
            return [started, *_about_software(kernel), _about_ranks(kernel)]
    except NotStartedError as error:
        remedy = f"all that its launcher said is in {log_file(name)}" if log_file(name).exists() else ""
        said = str(error).split("did not start: ", 1)[-1]  # the launcher's own sentence begins like this one
        return [Finding("Kernel", "wrong", f"{name} did not start: {said}", remedy)]


def _about_software(kernel: KernelConversation) -> list[Finding]:
    python = kernel.ask(ABOUT_PYTHON, QUICK_LIMIT_S)
    if python.error:
        return [Finding("Python", "wrong", python.error)]
    facts = python.facts
    wanted = SpecifierSet(metadata.metadata("coursekit")["Requires-Python"])
    found = compare("Python", facts["python"], wanted)
    return [
        Finding(found.name, found.state, f"{found.text} ({facts['executable']})", found.remedy),
        _about_coursekit(kernel),
        *_about_packages(kernel),
        check_allocation(facts["variables"]),
    ]


def _about_coursekit(kernel: KernelConversation) -> Finding:
    reply = kernel.ask(ABOUT_COURSEKIT, QUICK_LIMIT_S)
    if reply.error:
        return not_imported("coursekit", reply.error)
    return Finding("coursekit", "good", f"{reply.facts['version']} from {reply.facts['folder']}")


def _about_packages(kernel: KernelConversation) -> list[Finding]:
    reply = kernel.ask(ABOUT_PACKAGES, IMPORT_LIMIT_S)
    findings = []
    packages = (("TensorFlow", "tensorflow", same_minor(required("tensorflow-cpu"))),)
    for title, key, wanted in (*packages, ("Horovod", "horovod", required("horovod"))):
        facts = reply.facts.get(key, {"error": reply.error})
        wrong = "error" in facts
        findings.append(not_imported(title, facts["error"]) if wrong else compare(title, facts[key], wanted))
    return findings


def _about_ranks(kernel: KernelConversation) -> Finding:
    reply = kernel.ask(ABOUT_RANKS, ALLREDUCE_LIMIT_S)
    if reply.error or "ranks" not in reply.facts:
        name = f"Allreduce, {allreduce.NUM_RANKS} ranks"
        return Finding(name, "wrong", reply.error or "the ranks said nothing", MAKE_ENV)
    return judge_allreduce(reply.facts)
