"""Soaking: what is the same every time is told from what is not, in points and in the property that is missing."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from rich.console import Console

from coursekit.grading.judge.pool import PoolSettings
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.soak import LOOP, REFERENCE, Soaked, busy, choose, property_of, soak
from workshop.cli import cli
from workshop.cli.soak import tell

ROOT = Path(__file__).parents[3]
WRONG = BankAnswer("wrong", "Always the first", {"mean-tests": ()}, {"mean": "def mean(x):\n    return x[0]"})
# Of two runs one finds an even number of nanoseconds / 1024, the other an odd one, in half of all cases.
FLAKY = BankAnswer(
    "flaky",
    "Right at times",
    {"mean-tests": ()},
    {"mean": "import time\nodd = time.time_ns() // 1024 % 2\n\ndef mean(x):\n    return sum(x) / len(x) + odd"},
)
NUM_TIMES = 16  # the flaky answer looks steady once in 2**15 tests


@pytest.mark.needs("bwrap")
def test_what_is_not_always_the_same_is_told(source):
    """An answer that is right at times is found; the solution and a wrong answer have one verdict each."""
    reference = BankAnswer(REFERENCE, "the solution", {}, {})
    soaked = {one.name: one for one in soak([reference, WRONG, FLAKY], source, NUM_TIMES, PoolSettings(2))}
    passed = (("shard-tests", 2.0, ""), ("mean-tests", 1.0, ""), ("path-tests", 0.5, ""))
    failed = (("mean-tests", 0.0, "AssertionError: the mean of 1, 2 and 6 is 3"),)
    assert soaked[REFERENCE] == Soaked(REFERENCE, Counter({passed: NUM_TIMES}))
    assert soaked["wrong"] == Soaked("wrong", Counter({failed: NUM_TIMES}))
    assert [one.differences for one in (soaked[REFERENCE], soaked["wrong"])] == [(), ()]
    (sentence,) = soaked["flaky"].differences
    found = re.fullmatch(r"mean-tests: (\d+) times \d points \(.*\), (\d+) times \d points \(.*\)", sentence)
    assert sum(map(int, found.groups())) == NUM_TIMES
    assert {"passed", "AssertionError"} <= set(re.findall(r"passed|AssertionError", sentence))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", ""),
        ("CheckError: shards: rank 1 has 0.31 of rank 0 → section 3", "CheckError: shards"),
        ("AssertionError: the mean of 1, 2 and 6 is 3", "AssertionError: the mean of 1, 2 and 6 is 3"),
        ("something", "something"),
    ],
)
def test_a_property_is_known_without_its_numbers(message, expected):
    """What follows the property's name may hold random inputs, and is not a difference."""
    assert property_of(message) == expected


def test_the_machine_is_told_apart(monkeypatch):
    """A fault is not a difference of verdicts, has words of its own, and is not a success either."""
    one = Soaked("a", Counter({(("t", 1.0, ""),): 2}), ["the node died"])
    assert one.differences == ()
    monkeypatch.setenv("COLUMNS", "200")
    console = Console(file=io.StringIO())
    assert not tell("01", [one], 3, 7.0, console)
    assert console.file.getvalue().splitlines() == [
        "01 a: needs another run: the node died",
        "01: 1 of 1 answers had the same verdict 3 times; 1 times the machine failed (7 s)",
    ]


def test_mutants_are_drawn_from_the_wrong_answers():
    """The solution comes first; the draw is repeatable, and never more than there are."""
    bank = [BankAnswer(f"wrong-{i}", "", {"t": ("x",)}, {"c": "pass"}) for i in range(20)]
    bank.append(BankAnswer("right", "", {}, {"c": "pass"}))
    names = [one.name for one in choose(bank, 10, 3)]
    assert names[0] == REFERENCE
    assert len(set(names)) == 11
    assert "right" not in names
    assert names == [one.name for one in choose(bank, 10, 3)]
    assert len(choose(bank, 100, 3)) == 21


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(("lab", "pattern"), [("01", ""), ("02", "shard")])
def test_verdicts_of_the_labs_are_the_same_each_time(lab, pattern, monkeypatch):
    """The short form of `make soak`: the solution and a few wrong answers that are quick."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(ROOT))
    words = ["soak", lab, "--repeat", "2", "--mutants", "3", "-k", pattern]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "4 of 4 answers had the same verdict 2 times" in result.output


def _loops(pid):
    loops = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):  # it ended between two questions, or is a zombie
            while not (line := child.cmdline()):  # so it is for a moment after its start
                time.sleep(0.01)
            loops += [child] * (LOOP in line)
    return loops


@pytest.mark.needs("bwrap")
def test_loops_run_beside_all_turns_but_the_first(source):
    """So that a verdict that depends on speed differs."""
    seen = []
    reference = BankAnswer(REFERENCE, "the solution", {}, {})
    (soaked,) = soak([reference], source, 3, PoolSettings(), lambda _: seen.append(len(_loops(os.getpid()))), 2)
    assert seen == [0, 2, 2]
    assert (soaked.differences, soaked.faults, soaked.outcomes.most_common(1)[0][1]) == ((), [], 3)


def test_busy_loops_end_with_the_command():
    """They run while it does; none is left when it is killed."""
    with busy(3):
        assert len(_loops(os.getpid())) == 3
    assert _loops(os.getpid()) == []
    program = "import time\nfrom workshop.answers.soak import busy\nwith busy(3): print(flush=True); time.sleep(3600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        loops = _loops(process.pid)
        process.send_signal(signal.SIGKILL)
    assert len(loops) == 3
    assert psutil.wait_procs(loops, timeout=900)[1] == []
