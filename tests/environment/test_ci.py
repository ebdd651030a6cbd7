"""The script of the continuous integration."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

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
    for path in (ROOT / "tests").rglob("test_*.py"):
        for names in re.findall(r"^@pytest\.mark\.needs\((.*)\)$", path.read_text(), re.MULTILINE):
            marked |= set(re.findall(r'"(.+?)"', names))
    remedies = dict(
        re.findall(r'^    "(\w+)": "apt install ([\w -]+)', (ROOT / "tests" / "conftest.py").read_text(), re.MULTILINE)
    )
    installed = set(re.findall(r"[\w+-]+", SCRIPT.read_text()))

    assert "mpicc" in marked
    for program in marked:
        assert set(remedies[program].split()) <= installed, program
