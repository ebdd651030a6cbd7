"""Small courses whose labs behave well and badly, and the command that runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import Facts
from coursekit.processes import marked_processes

from ...made_labs import add_lab

if TYPE_CHECKING:
    import psutil

FACTS = Facts(host="host", device="device", num_cpus=1, versions={}, commit=None, dirty=False)


@dataclass(frozen=True)
class Course:
    """A course checkout in a temporary folder."""

    root: Path

    def add(self, name: str, source: str, small_run: str = "") -> None:
        """Write the lab `name`."""
        add_lab(self.root, name, source, title=name[3:].title(), small_run=small_run)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start `coursekit run` with these words; its output is piped."""
        return subprocess.Popen(
            [sys.executable, "-c", "from coursekit.cli import main; main()", "run", *words],
            cwd=self.root,
            env={**os.environ, "COURSEKIT_ROOT": str(self.root), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `coursekit run` to its end."""
        process = self.start(*words, **environment)
        output, errors = process.communicate(timeout=900)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    @property
    def runs(self) -> Path:
        """The folder of all runs."""
        return self.root / "build" / "runs"

    @property
    def latest(self) -> Path:
        """The folder of the newest run."""
        return (self.runs / "latest").resolve()

    def processes(self) -> set[psutil.Process]:
        """Every live process that a kernel of this course has left."""
        return marked_processes(self.runs)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A checkout without labs; a test module adds its own."""
    root = tmp_path_factory.mktemp("course") / "with {braces}"
    (root / "solutions").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    return Course(root)


@pytest.fixture(scope="session")
def execute_sources():
    """Return a function that executes cells; the last one is a test of 2 points."""
    return _execute_sources


def _execute_sources(folder, *sources, time_limit_s=60.0, kernel="python3", goes_on=False):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources, start=1)]
    cells[-1].metadata["nbgrader"] = {"grade": True, "grade_id": "last-tests", "points": 2, "solution": False}
    kernelspec = {"name": kernel, "display_name": "Python 3", "language": "python"}
    source = folder / "source" / "lab.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec}), source)
    run = LabRun("lab", "Lab", source, {}, 1, time_limit_s, goes_on)
    seen = []
    result = execute_lab(run, folder / "work", FACTS, lambda *cell: seen.append(cell))
    assert marked_processes(folder) == set()
    return result, seen
