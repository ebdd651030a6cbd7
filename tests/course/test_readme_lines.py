"""The lines of docs/instructor.md for grading a class, run as they stand: from roster to feedback, with two students.

Rules, where a line alone says too little: a student's `nbgrader submit` gets `--student`, for in a test all share one
account; JupyterLab, which does not end by itself, gets a port and a token from the home's settings, is asked what its
Formgrader knows, and ended.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest

from coursekit.grading.bank.answer_bank import load_bank
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs

from ..ports import free_ports

ROOT = Path(__file__).parents[2]
LAB = "01-sgd"
WRONG = "num-updates-rounded-down"  # of the bank of answers
ROSTER = "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@example.org,1001\nbob,,,,\n"
LINE_S, ANSWER_S = 1800, 300
TOKEN = "readme"  # noqa: S105  # of a server on the loopback interface that lives for one test


def blocks():
    """Return the section's two blocks of commands, the instructor's and a student's, without remarks."""
    (section,) = re.findall(
        r"^## Grading a class\n(.*?)^## ", (ROOT / "docs" / "instructor.md").read_text(), re.DOTALL | re.MULTILINE
    )
    found = [block.splitlines() for block in re.findall(r"^```\n(.*?)^```", section, re.DOTALL | re.MULTILINE)]
    return [[line.partition("  #")[0].rstrip() for line in block] for block in found]


def answered(released, source, answers):
    """Return the released notebook with the solution in every answer cell, but for these answers."""
    solved = {cell.id: cell.source for cell in nbformat.read(source, as_version=4).cells}
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers.get(cell.id, solved[cell.id])
    return nbformat.writes(notebook)


def at_once(act, names):
    """Let all students act at the same time."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(act, names))


class Account:
    """A shell with a home of its own, in a folder."""

    def __init__(self, home, folder):
        self.home, self.folder = home, folder
        (home / ".jupyter").mkdir(parents=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "COURSEKIT"))}
        self.environ = {**kept, "HOME": str(home)}

    def start(self, line, **options):
        """Start a line, and return its process."""
        return subprocess.Popen(["bash", "-c", line], cwd=self.folder, env=self.environ, **options)

    def run(self, line):
        """Run a line, and return what it wrote."""
        with self.start(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            said, _ = process.communicate(timeout=LINE_S)
        assert process.returncode == 0, f"{line}\n{said}"
        return said

    def ask_formgrader(self, line):
        """Run a line that starts JupyterLab; return what its Formgrader says of the hand-ins, and end it."""
        port = free_ports()
        settings = {"open_browser": False, "allow_root": True, "ip": "127.0.0.1", "port": port}
        config = {"ServerApp": settings, "IdentityProvider": {"token": TOKEN}}
        (self.home / ".jupyter" / "jupyter_server_config.json").write_text(json.dumps(config))
        with (self.home / "log").open("wb") as log:
            process = self.start(line, stdout=log, stderr=log, start_new_session=True)
        try:
            url = f"http://127.0.0.1:{port}/formgrader/api/submissions/{LAB}"
            request = urllib.request.Request(url, headers={"Authorization": f"token {TOKEN}"})
            return json.loads(self._answer(request, process))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(ANSWER_S)

    def _answer(self, request, process):
        deadline_s = time.monotonic() + LINE_S
        while time.monotonic() < deadline_s:
            assert process.poll() is None, (self.home / "log").read_text()
            with suppress(OSError), urllib.request.urlopen(request, timeout=ANSWER_S) as answer:  # noqa: S310  # http
                return answer.read().decode()
            time.sleep(0.2)
        return pytest.fail((self.home / "log").read_text())


@pytest.fixture
def root(tmp_path):
    """A checkout with lab 01 alone, and a roster."""
    root = tmp_path / "checkout"
    for folder in ("solutions", "labs"):
        shutil.copytree(ROOT / folder / LAB, root / folder / LAB, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (root / "pyproject.toml").write_text("")
    (root / "roster.csv").write_text(ROSTER)
    (root / "handed-in").mkdir()  # nobody sent a file
    return root


@pytest.mark.needs("bwrap")
def test_from_roster_to_feedback(root, tmp_path):
    """Both students' points are those of their answers in the exported tables, and each gets their own feedback."""
    instructors, students = blocks()
    assert [line.split()[1] for line in students] == ["fetch_assignment", "submit", "fetch_feedback"]
    assert len(instructors) == 12
    source = build_sources(root, select_labs(root, ["01"]))[LAB]
    (wrong,) = (one for one in load_bank(ROOT / "tests" / "answers" / LAB, source) if one.name == WRONG)
    accounts = {name: Account(tmp_path / name, tmp_path / name) for name in ("ada", "bob")}
    instructor = Account(tmp_path / "instructor", root)

    answers = {"ada": {}, "bob": wrong.cells}

    def hand_in(name):
        fetch, submit, _ = students
        account = accounts[name]
        shutil.copy(root / "course" / "student" / "nbgrader_config.py", account.home / ".jupyter")
        account.run(fetch)
        notebook = account.folder / LAB / f"{LAB}.ipynb"
        notebook.write_text(answered(notebook, source, answers[name]))
        account.run(f"{submit} --student {name}")

    listed = []
    for line in instructors:
        if "jupyter lab" in line:
            listed = instructor.ask_formgrader(line)
        else:
            instructor.run(line)
        if line.startswith("coursekit course release"):
            at_once(hand_in, accounts)

    points = {"ada": 20.0, "bob": 19.0}
    assert {one["student"]: one["score"] for one in listed} == points
    for path, name in (("course/grades-csv.csv", "id"), ("grades.csv", "Username")):
        rows = csv.DictReader((root / path).read_text().splitlines())
        assert {row[name]: float(row[LAB]) for row in rows} == points

    missing = {"ada": False, "bob": True}
    at_once(lambda name: accounts[name].run(students[-1]), accounts)
    for name, account in accounts.items():
        (page,) = (account.folder / LAB / "feedback").rglob("*.html")
        assert f"(Score: {points[name]} / 20.0)" in page.read_text()
        assert (" updates, got " in page.read_text()) is missing[name]
