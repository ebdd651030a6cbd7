"""`coursekit grade` as a process that tests disturb, and what it leaves."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .conftest import tree

RUN_S, GONE_S = 1800, 300  # on a busy machine


@dataclass
class Grader:
    """`coursekit grade` as a process."""

    process: subprocess.Popen
    folder: Path
    started: float = field(default_factory=time.time)

    def wait(self):
        """Return exit status and what it said."""
        out, _ = self.process.communicate(timeout=RUN_S)
        return self.process.returncode, out

    def num_verdicts(self):
        """Count the verdicts that are newer than this process."""
        return sum(path.stat().st_mtime >= self.started for path in (self.folder / "verdicts").rglob("*.json"))

    def num_recorded(self):
        """Count the graded notebooks that are there."""
        return len(list((self.folder / "autograded").glob("*/*/*.ipynb")))

    def wait_until(self, condition):
        """Return what a function gives when that is true, or this process has ended."""
        deadline_s = time.monotonic() + RUN_S
        while not (value := condition()) and self.process.poll() is None:
            assert time.monotonic() < deadline_s, "it did not happen in time"
            time.sleep(0.002)
        return value

    def workers(self):
        """Return the workers of this grader that run."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.process.pid).children():
                with suppress(psutil.NoSuchProcess):  # it ended between two questions, or is a zombie
                    found += [child] * ("coursekit.grading.judge.pool_worker" in child.cmdline())
        return found


@contextmanager
def grader(folder, *words):
    """Start `coursekit grade` and end it, and all it started."""
    argv = [sys.executable, "-m", "coursekit", "grade", "01", "--course", str(folder), *words]
    started = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield Grader(started, folder)
    finally:
        started.kill()
        started.communicate(timeout=RUN_S)


def grade(folder, *words):
    """Run `coursekit grade` to its end; return exit status and what it said."""
    with grader(folder, *words) as running:
        return running.wait()


def left():
    """Return what still runs of the graders that were started, after a while."""
    deadline_s = time.monotonic() + GONE_S
    while True:
        running = []
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                words = " ".join(process.cmdline())
                if process.status() != psutil.STATUS_ZOMBIE and re.search(r"coursekit\.grading|bwrap", words):
                    running.append(words[:100])
        if not running or time.monotonic() > deadline_s:
            return running
        time.sleep(0.05)


def end_state(folder):
    """Return what grading leaves, apart from ids, seconds and memory: gradebook, graded notebooks, verdicts."""
    verdicts = [json.loads(path.read_bytes()) for path in sorted((folder / "verdicts").rglob("*.json"))]
    for verdict in verdicts:
        del verdict["seconds"], verdict["peak_memory_gb"]
    names = {name for name in tree(folder / "verdicts") if not name.endswith(".json")}
    return gradebook(folder), tree(folder / "autograded"), verdicts, names


def gradebook(folder):
    """Return all rows of all tables; ids that grading draws stand for what they belong to."""
    drawn = {}
    with closing(sqlite3.connect(folder / "gradebook.db")) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        for own, keys in (
            ("submitted_assignment", "assignment_id, student_id"),
            ("submitted_notebook", "assignment_id, notebook_id"),
            ("grade", "notebook_id, cell_id"),
            ("comment", "notebook_id, cell_id"),
        ):
            for drawn_id, *belongs in database.execute(f"select id, {keys} from {own}"):  # noqa: S608  # our own words
                drawn[drawn_id] = tuple(drawn.get(key, key) for key in belongs)
        rows = {name: database.execute(f"select * from {name}").fetchall() for name in tables}  # noqa: S608  # the same
    return {name: sorted(repr([drawn.get(value, value) for value in row]) for row in rows[name]) for name in tables}
