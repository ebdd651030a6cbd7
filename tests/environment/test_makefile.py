"""The Makefile lists its targets, and needs no environment to do so."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def make():
    """A function that runs make in the checkout and returns what it prints."""
    # The make that runs these tests hands its own flags and variables on: not to this one.
    environ = {"PATH": os.environ["PATH"]}

    def run(*words):
        done = subprocess.run(["make", *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
        return done.stdout

    return run


def test_make_alone_lists_every_target(make):
    """`make` prints each target with a line of explanation, in the order of the file, and does nothing else."""
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()

    listed = re.findall(r"^make ([a-z]+) +\S.*$", make(), re.MULTILINE)

    assert listed == targets
    assert {"env", "run", "test", "labs", "check", "bench", "lab", "doctor", "lock", "clean"} < set(listed)


@pytest.mark.parametrize("target", ["run", "test", "labs", "check", "bench", "lab", "doctor"])
def test_targets_make_the_environment_first(target, make):
    """On a fresh clone every target works without another step before it."""
    assert make("--dry-run", target).splitlines()[0] == "PYTHON='' tools/make-env"


def test_run_uses_two_ranks_unless_told_otherwise(make):
    """`make run` is the documented command, and the number of ranks can be chosen."""
    assert make("--dry-run", "run").splitlines()[-1] == ".venv/bin/coursekit run --ranks 2"
    assert make("--dry-run", "run", "NUM_RANKS=4").splitlines()[-1] == ".venv/bin/coursekit run --ranks 4"


def test_clean_keeps_records_and_environment(make):
    """`make clean` removes build/ and nothing else: course/ holds the records of an event."""
    assert make("--dry-run", "clean").splitlines() == ["rm -rf build"]
