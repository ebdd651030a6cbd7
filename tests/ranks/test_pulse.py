"""Who rests and who computes, as a fork server sees it from the kernel's counts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from coursekit.ranks.pulse import Pulses

NUM_PULSES, MAX_NUM_PULSES = 4, 40
# The main thread waits for a second one, which again and again is busy for so many seconds and sleeps for so many.
PROGRAM = """
import sys, threading, time

def work(busy_s, idle_s):
    print(flush=True)
    while True:
        end_s = time.perf_counter() + busy_s
        while time.perf_counter() < end_s:
            pass
        time.sleep(idle_s)

thread = threading.Thread(target=work, args=map(float, sys.argv[1:]))
thread.start()
thread.join()
"""


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "is_quiet"),
    [
        pytest.param("0.0001", "0.00005", True, id="looks-for-news-all-the-time"),
        pytest.param("1000", "0", False, id="computes"),
        pytest.param("0.1", "1000", True, id="has-computed"),
    ],
)
def test_who_only_looks_for_news_rests(busy_s, idle_s, is_quiet):
    """A thread may use most of a processor and yet do nothing: what counts is how often it rests.

    Where the machine lets it rest for a whole look, the next one is in doubt, and in doubt it computes.
    """
    with subprocess.Popen([sys.executable, "-c", PROGRAM, busy_s, idle_s], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        pulses = Pulses({process.pid: 0})
        marks = []
        while len(marks) < NUM_PULSES or (is_quiet and not marks[-1].is_quiet and len(marks) < MAX_NUM_PULSES):
            process.poll()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(pulses.due_in_s())
            marks.append(pulses.take().marks[0])
        process.kill()

    quiet = [mark.is_quiet for mark in marks[2:]]
    assert (quiet[-1], any(quiet)) == (is_quiet, is_quiet)
    assert len({mark.num_turns for mark in marks[1:]}) == 1
