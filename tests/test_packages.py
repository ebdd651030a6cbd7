"""The contracts on imports: they hold, product and workshop are apart, and notebooks load no authoring tool."""

import os
import subprocess
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
AUTHORING = ("click", "jinja2", "jupytext", "nbclient", "nbconvert", "nbformat", "nbgrader", "papermill", "rich")
PROGRAM = """
import importlib, pkgutil, sys
for package in ("checks", "drivers", "imagenet", "pictures", "ranks", "scaling", "throughput"):
    found = importlib.import_module(f"coursekit.{package}")
    for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
        importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


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


def test_learner_half_needs_no_authoring_tool_and_no_framework():
    """No module that notebooks use imports an authoring tool; TensorFlow, Horovod and PyTorch wait for the ranks."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())

    assert loaded & {*AUTHORING, "tensorflow", "horovod", "keras", "torch"} == set()
