"""The script of the continuous integration."""

from __future__ import annotations

import ast
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


def needed(module):
    """Return the arguments of all marks `needs` in a module, which may stand in a tuple of the module's."""
    values = {ast.unparse(node.targets[0]): node.value for node in module.body if isinstance(node, ast.Assign)}
    for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
        if ast.unparse(call.func) == "pytest.mark.needs":
            for argument in call.args:
                if isinstance(argument, ast.Starred):
                    yield from ast.literal_eval(values[ast.unparse(argument.value)])
                else:
                    yield ast.literal_eval(argument)


def test_script_installs_what_tests_need():
    """Each program that a test is marked to need comes with the packages that its remedy names."""
    sources = (path for path in (ROOT / "tests").rglob("*.py") if "mark.needs" in path.read_text())
    marked = {program for path in sources for program in needed(ast.parse(path.read_text()))}
    installed = set(re.findall(r"[\w+-]+", SCRIPT.read_text()))

    assert {"mpicc", "slurmctld", "slurmdbd"} <= marked
    for program in marked:
        packages = REMEDIES[program].partition("apt install ")[2].partition(",")[0].split()
        assert packages, program
        assert set(packages) <= installed, program
