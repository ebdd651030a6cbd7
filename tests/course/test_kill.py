"""Grading that is killed, or loses its disk or its database: a second call ends where an undisturbed run does."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil
import pytest

from coursekit.course.collect import collect

from .conftest import NAME, RIGHT, tree

if TYPE_CHECKING:
    from pathlib import Path

NUM_KILLS, NUM_COURSES = 30, 3
SHARE_OF_WORKERS = 1 / 6  # of the kills; a grader goes on without its worker, and takes longer
RUN_S, GONE_S = 120, 15
FIRST_SHARE = 0.25  # of an undisturbed run: before, Python is still importing
AFTER_VERDICT_S = 0.05  # between a verdict and its record are some milliseconds
CLASS = {
    "ada": RIGHT,
    "bob": {**RIGHT, "shard": "def shard(x, rank, size):\n    return x[:3]"},
    "cyd": {**RIGHT, "mean": "def mean(x):\n    return min(x)"},
    "dan": RIGHT,
    "eve": {},
}
pytestmark = pytest.mark.needs("bwrap")


@pytest.fixture
def class_of_five(course, hand_in):
    """The course with five hand-ins, four of them different."""
    for student, answers in CLASS.items():
        hand_in(student, answers=answers)
    collect(course, NAME)
    return course


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

    def workers(self):
        """Return the workers of this grader that run."""
        with suppress(psutil.Error):
            children = psutil.Process(self.process.pid).children()
            return [child for child in children if "coursekit.judging.worker" in " ".join(child.cmdline())]
        return []


@contextmanager
def grader(folder, *words):
    """Start `coursekit grade` and end it, and all it started."""
    argv = [sys.executable, "-m", "coursekit", "grade", "01", "--jobs", "2", "--course", str(folder), *words]
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
                if process.status() != psutil.STATUS_ZOMBIE and re.search(r"coursekit\.(judging|inside)|bwrap", words):
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


def kill_once(folder, rng, run_s):
    """Kill a grader, or one of its workers, at a random moment; return what was done, in words."""
    hits_worker = rng.random() < SHARE_OF_WORKERS
    num_verdicts = rng.randrange(5)  # none: a moment of the clock
    wait_s = rng.uniform(0, AFTER_VERDICT_S) if num_verdicts else rng.uniform(FIRST_SHARE, 1) * run_s
    with grader(folder, "--again") as running:
        deadline_s = time.monotonic() + RUN_S
        while running.process.poll() is None and time.monotonic() < deadline_s:
            if hits_worker and not running.workers():
                time.sleep(0.005)
            elif num_verdicts and running.num_verdicts() < num_verdicts:
                time.sleep(0.002)
            else:
                break
        time.sleep(wait_s)
        victims = running.workers() if hits_worker else [running.process]
        if not victims:
            return ""
        is_over = running.process.poll() is not None
        victim = rng.choice(victims)
        with suppress(psutil.Error, ProcessLookupError):
            victim.send_signal(signal.SIGKILL)
        status, said = running.wait()
    assert status == (-signal.SIGKILL if not hits_worker and not is_over else 0), said
    moment = f"{wait_s * 1000:.0f} ms after verdict {num_verdicts}" if num_verdicts else f"after {wait_s:.2f} s"
    return "" if is_over else f"{'worker' if hits_worker else 'grader'} {moment}"


@pytest.mark.timeout(1800)
def test_killed_at_any_moment_nothing_is_lost(class_of_five, tmp_path):
    """After kills at 30 random moments one more call reaches the state of an undisturbed run, and nothing runs."""
    seed = int(os.environ.get("COURSEKIT_SEED", random.SystemRandom().randrange(10**6)))
    rng = random.Random(seed)  # noqa: S311  # no secret
    print(f"seed {seed} (COURSEKIT_SEED)")
    folders = [tmp_path / f"event-{number}" for number in range(NUM_COURSES)]
    for folder in folders:
        shutil.copytree(class_of_five.folder, folder, symlinks=True)
    started_s = time.monotonic()
    status, said = grade(class_of_five.folder)
    run_s = time.monotonic() - started_s
    assert status == 0, said
    wanted = end_state(class_of_five.folder)
    assert len(wanted[2]) == 4, wanted[2]
    assert "eve 01-small: 0 of 3" in said

    for folder in folders:
        num_kills = 0
        while num_kills < NUM_KILLS // NUM_COURSES:
            done = kill_once(folder, rng, run_s)
            num_kills += bool(done)
            print(done or "(it had ended)")
            assert left() == []
        status, said = grade(folder)
        assert status == 0, said
        assert end_state(folder) == wanted
    assert left() == []
