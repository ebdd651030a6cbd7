"""The rooms of the package: imports go downwards only, and a wall that is broken through is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
# A module, what it must not import, and the rule that says so.
WRONG = [
    ("labs.lab", "from coursekit.course import roster", "Rooms import downwards"),
    ("ranks.launch", "from coursekit.labs import lab", "Rooms import downwards"),
    ("course.roster", "from coursekit.jupyter import link", "Rooms import downwards"),
    ("grading.walls.sandbox", "from coursekit.grading.judge import pool", "Rooms within grading import downwards"),
    ("slurm.sites.load", "from coursekit.slurm.jobs import states", "Rooms within slurm and labs import downwards"),
    ("drivers.linear", "from coursekit.checks import linear_math", "What a sandbox shows does not know what is right"),
    ("course.roster", "import click", "Only commands know click"),
]


def lint(package, folder):
    """Return exit status and output of the contracts' check on a package in this folder."""
    environ = {**os.environ, "PYTHONPATH": str(package.parent), "COLUMNS": "200"}
    command = [
        Path(sys.executable).with_name("lint-imports"),
        "--no-logo",
        "--no-cache",
        "--config",
        ROOT / "pyproject.toml",
    ]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("src") / "coursekit"
    shutil.copytree(ROOT / "src" / "coursekit", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_rooms_keep_their_rules(tmp_path):
    """`make check` passes: no contract is broken."""
    status, output = lint(ROOT / "src" / "coursekit", tmp_path)
    assert (status, "BROKEN" in output) == (0, False), output


@pytest.mark.parametrize(("module", "line", "rule"), WRONG)
def test_a_wrong_import_is_refused_by_the_rules_name(package, tmp_path, module, line, rule):
    """The rule that is broken is named, and so are both modules."""
    path = package.joinpath(*module.split(".")).with_suffix(".py")
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")
    try:
        status, output = lint(package, tmp_path)
    finally:
        path.write_text(before)
    assert status == 1, output
    assert f"{rule} BROKEN" in output
    assert f"coursekit.{module}" in output.partition("Broken contracts")[2]


def test_no_two_modules_import_each_other():
    """Not through others either, and not for types alone."""
    graph = grimp.build_graph("coursekit")
    pairs = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert [pair for pair in pairs if graph.chain_exists(importer=pair[1], imported=pair[0])] == []
