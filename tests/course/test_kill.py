"""Grading that is killed at random moments: a second call ends where an undisturbed run does."""

import os
import random
import shutil
import signal
import time

import pytest

from coursekit.course.collect import collect

from .conftest import NAME, RIGHT
from .grader import end_state, grade, grader, left

NUM_COURSES = 2
# Of each course: while it is judged, and, quicker, while known verdicts are recorded.
KILLS = (("judging",) * 3, ("recording",) * 7)
SHARE_OF_FRESH = 2 / 3  # of the kills while recording; the others go on with what the one before left
FIRST_SHARE = 0.25  # of an undisturbed run: before, Python is still importing
LATER_S = 0.05  # between a verdict and its record, and between two records, are some milliseconds
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


def kill_once(folder, what, rng, run_s):
    """Kill a grader at a random moment; return what was done in words, '' if it was too late."""
    if what == "recording" and rng.random() < SHARE_OF_FRESH:
        forget_records(folder)
    words = () if what == "recording" else ("--again", "--jobs", str(rng.choice([1, 2])))
    num_steps = rng.randrange(len(CLASS))  # 0: a moment of the clock
    wait_s = rng.uniform(0, LATER_S) if num_steps else rng.uniform(FIRST_SHARE, 1) * run_s[what]
    with grader(folder, *words) as running:
        count = running.num_recorded if what == "recording" else running.num_verdicts
        running.wait_until(lambda: count() >= num_steps)
        time.sleep(wait_s)
        running.process.send_signal(signal.SIGKILL)  # nothing, if it has ended
        status, said = running.wait()
    assert status in {0, -signal.SIGKILL}, said
    moment = f"{wait_s * 1000:.0f} ms after step {num_steps}" if num_steps else f"after {wait_s:.2f} s"
    return f"{what} {moment}" if status else ""


def forget_records(folder):
    """Put the gradebook back to before any grading, and leave the verdicts."""
    shutil.rmtree(folder / "autograded")
    (folder / "autograded").mkdir()
    for path in folder.glob("gradebook.db*"):  # with the journal of one who was killed
        path.unlink()
    shutil.copy(folder / "fresh.db", folder / "gradebook.db")


def let_a_day_pass(folder):
    """Make old what a killed writer has left: grading removes no newer one, as another node may be writing it."""
    for path in folder.rglob(".*.tmp"):
        os.utime(path, (0, 0))


def test_killed_at_any_moment_nothing_is_lost(class_of_five, tmp_path):
    """After kills at 20 random moments one more call reaches the state of an undisturbed run, and nothing runs."""
    seed = int(os.environ.get("COURSEKIT_SEED", random.SystemRandom().randrange(10**6)))
    rng = random.Random(seed)  # noqa: S311  # no secret
    print(f"seed {seed} (COURSEKIT_SEED)")
    folders = [tmp_path / f"event-{number}" for number in range(NUM_COURSES)]
    shutil.copy(class_of_five.folder / "gradebook.db", class_of_five.folder / "fresh.db")
    for folder in folders:
        shutil.copytree(class_of_five.folder, folder, symlinks=True)
    run_s = {}
    for what in ("judging", "recording"):
        forget_records(class_of_five.folder)
        started_s = time.monotonic()
        status, said = grade(class_of_five.folder)
        run_s[what] = time.monotonic() - started_s
        assert status == 0, said
    wanted = end_state(class_of_five.folder)
    assert len(wanted[2]) == 4, wanted[2]
    assert {"ada 01-small: 3 of 3", "eve 01-small: 0 of 3"} <= {line.partition(" (")[0] for line in said.splitlines()}

    for folder, kills in ((folder, kills) for folder in folders for kills in KILLS):
        for what in kills:
            done = ""
            while not done:
                done = kill_once(folder, what, rng, run_s)
                print(done or "(it had ended)", flush=True)
            assert left() == []
        let_a_day_pass(folder)
        status, said = grade(folder)
        assert status == 0, said
        assert end_state(folder) == wanted
