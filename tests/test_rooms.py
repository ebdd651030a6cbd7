"""The contracts on imports: they hold, and product and workshop are apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]


def test_the_contracts_hold(tmp_path):
    """`make check` passes: no contract on imports is broken."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / "pyproject.toml"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "BROKEN" in done.stdout) == (0, False), done.stdout


def test_no_two_modules_import_each_other():
    """Not through others either, and not for types alone."""
    graph = grimp.build_graph("coursekit", "workshop")
    pairs = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert [pair for pair in pairs if graph.chain_exists(importer=pair[1], imported=pair[0])] == []
