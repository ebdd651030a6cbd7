"""The points that stock nbgrader, with its default settings, gives for the same attacks, in a temporary course.

A sandbox only protects this machine: in it nbgrader runs as usual, with attack and grader in one account.
To be cheap, lab 01 is reduced to its cells without pictures and TensorFlow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import psutil

from coursekit.errors import CourseKitError
from coursekit.labs.cells import cell_name, is_solution
from coursekit.processes import is_alive
from workshop.attacks.attack import Attack, load_attack
from workshop.attacks.make_hand_in import write_hand_in

LAB = "01-sgd"
LEFT_OUT = ("tensorflow", "tape-step", "tape-step-tests", "tape-run")
REPLACED = {
    "imports": "import numpy as np\nfrom coursekit.checks import check, hand_in_report, lab01_linear, lab01_stability",
    "data": "rng = np.random.default_rng(seed)\nx = rng.uniform(-0.5, 0.5, num_samples)\ny = 2.0 * x",
}
LATE_S = 6.0  # how long processes that a submission leaves behind get


def measure(attacks: Sequence[tuple[Attack, Path]], source: Path) -> Iterator[tuple[str, float]]:
    """Yield name and the points that nbgrader gives for the tests at stake of each attack on lab 01, with its file.

    `source` is the notebook of lab 01 with solutions and hidden tests.
    """
    with tempfile.TemporaryDirectory(prefix="nbgrader-") as folder, tempfile.TemporaryFile("w+") as log:
        words = [*_in_sandbox(Path(folder)), sys.executable, "-m", "workshop.attacks.baseline", folder, str(source)]
        environ = {**os.environ, "HOME": folder, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=log, text=True, env=environ) as process:
            if process.stdin is None or process.stdout is None:
                return
            json.dump([str(path) for _, path in attacks], process.stdin)
            process.stdin.close()
            for line in process.stdout:
                told = json.loads(line)
                yield told["name"], told["paid"]
        if process.returncode:
            log.seek(0)
            raise CourseKitError(f"nbgrader failed: {log.read().strip()[-1000:]}.")


def _in_sandbox(folder: Path) -> list[str]:
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-net"]
    words += ["--unshare-ipc", "--die-with-parent", "--new-session", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108
    return [*words, "--bind", str(folder), str(folder), "--chdir", str(folder), "--"]


def main() -> None:
    """Be the program in the sandbox: a course, one student for each attack, one line of JSON for each."""
    paths = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    course = _Course(Path(sys.argv[1]), Path(sys.argv[2]))
    for number, path in enumerate(paths):
        attack = load_attack(Path(path))
        paid = course.grade(attack, f"student{number}")
        print(json.dumps({"name": attack.name, "paid": paid}), file=channel, flush=True)


class _Course:
    """A course of nbgrader's, with its default settings."""

    def __init__(self, folder: Path, source: Path) -> None:
        from nbgrader.apps import NbGraderAPI  # slow
        from traitlets.config import Config  # the same

        self.folder = folder
        notebook = _reduced(nbformat.read(source, as_version=4))
        self.honest = {cell_name(cell): cell.source for cell in notebook.cells if is_solution(cell)}
        (folder / "source" / LAB).mkdir(parents=True)
        nbformat.write(notebook, folder / "source" / LAB / f"{LAB}.ipynb")
        config = Config()
        config.CourseDirectory.root = str(folder)
        self.api = NbGraderAPI(config=config)
        self.api.generate_assignment(LAB)
        self.released = nbformat.read(folder / "release" / LAB / f"{LAB}.ipynb", as_version=4)
        neighbour = folder / "submitted" / "neighbour" / LAB
        neighbour.mkdir(parents=True)
        nbformat.write(notebook, neighbour / f"{LAB}.ipynb")

    def grade(self, attack: Attack, student: str) -> float:
        """Autograde one attack and return the points for the tests at stake."""
        submitted = self.folder / "submitted" / student / LAB
        submitted.mkdir(parents=True)
        before = {process.pid for process in psutil.process_iter()}
        write_hand_in(attack, self.released, self.honest, submitted, mark="mark", course=self.folder)
        self.api.autograde(LAB, student, force=True, create=True)
        _wait_for_others(before)
        paid = 0.0
        with suppress(Exception), self.api.gradebook as gradebook:  # no grades at all: no points
            for grade in gradebook.find_submission_notebook(LAB, LAB, student).grades:
                paid += float(grade.score or 0) if grade.name in attack.at_stake else 0.0
        return paid


def _reduced(notebook: Any) -> Any:
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell_name(cell) not in LEFT_OUT]
    notebook.cells = [cell for cell in code if "picture" not in cell.metadata.get("tags", [])]
    for cell in notebook.cells:
        cell.source = REPLACED.get(cell_name(cell), cell.source)
    return notebook


def _wait_for_others(before: set[int]) -> None:
    """Give processes that were left behind some time, and end them."""
    deadline = time.monotonic() + LATE_S
    while True:
        others = [one for one in psutil.process_iter() if one.pid not in before and is_alive(one)]
        if not others:
            return
        if time.monotonic() > deadline:
            for process in others:
                with suppress(psutil.Error):
                    process.kill()
        time.sleep(0.05)


if __name__ == "__main__":
    main()
