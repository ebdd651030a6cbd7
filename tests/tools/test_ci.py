"""The script of the continuous integration."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from ..conftest import REMEDIES

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "run"


def test_script_can_be_started():
    """It is executable, bash can read it, and what it ends with is exactly `make test`."""
    subprocess.run(["bash", "-n", SCRIPT], check=True)

    assert os.access(SCRIPT, os.X_OK)
    assert SCRIPT.read_text().splitlines()[-1] == "make test"


def test_script_installs_what_tests_need():
    """Each program that a test is marked to need comes with the packages that its remedy names."""
    marked = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for names in re.findall(r"^(?:@pytest\.mark\.needs\(|PROGRAMS = \()(.*)\)$", path.read_text(), re.MULTILINE):
            marked |= set(re.findall(r'"(.+?)"', names))
    installed = set(re.findall(r"[\w+-]+", SCRIPT.read_text()))

    assert {"mpicc", "slurmctld", "slurmdbd"} <= marked
    for program in marked:
        packages = REMEDIES[program].partition("apt install ")[2].partition(",")[0].split()
        assert packages, program
        assert set(packages) <= installed, program
