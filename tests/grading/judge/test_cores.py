"""Two graders on one machine do not crowd on the same cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from coursekit.grading.judge import pool
from coursekit.grading.judge.pool import own_cores

GRADER = """
import json, os, sys
from coursekit.grading.judge import pool
pool.NAME = "\\0" + sys.argv[1]
os.sched_getaffinity = lambda _: set(json.loads(sys.argv[2]))
with pool.own_cores(2) as shares:
    print(json.dumps(shares), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine with five cores, on which no real grader runs."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 3, 5, 7})
    monkeypatch.setattr(pool, "NAME", f"\0coursekit-test-{os.getpid()}-{{}}")


@pytest.fixture
def grader():
    """Start a second grader with two slots; return it and the cores of its slots."""
    started = []

    def start(of_cores):
        words = [sys.executable, "-c", GRADER, pool.NAME[1:], json.dumps(of_cores)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, json.loads(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_slots_have_cores_of_their_own():
    """All cores are used, none by two slots; too few cores, or a single slot, stay unbound."""
    for num_slots, expected in ((2, [(0, 3, 7), (2, 5)]), (6, [()] * 6), (1, [()])):
        with own_cores(num_slots) as shares:
            assert shares == expected


def test_two_graders_share_no_core(grader):
    """The second one gets what the first has left, and is not bound where that is too little."""
    with own_cores(2):
        assert grader([0, 2, 3, 5, 7])[1] == [[], []]
        assert grader([0, 8, 9, 10])[1] == [[8, 10], [9]]


def test_cores_are_free_when_their_grader_is_gone(grader):
    """Also when it was killed: until then another one is not bound to them, afterwards it is."""
    process, shares = grader([3, 5])
    assert shares == [[3], [5]]
    with own_cores(3) as rest:
        assert rest == [(0,), (2,), (7,)]
    with own_cores(4) as rest:
        assert rest == [()] * 4
    process.kill()
    process.wait()
    with own_cores(4) as rest:
        assert rest == [(0, 7), (2,), (3,), (5,)]
