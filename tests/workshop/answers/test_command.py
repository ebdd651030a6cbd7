"""The command `workshop answers`."""

import contextlib
import signal
import subprocess
import sys
import time

import psutil
import pytest
from click.testing import CliRunner

from coursekit.errors import CourseKitError
from workshop.cli import cli

RIGHT = """
    # %% library
    # title = "A library does it"
    from statistics import fmean as mean
"""

WRONG = """
    # %% off-by-one
    # title = "Divides by one less"
    # fails.mean-tests = ["WORD"]
    def mean(x):
        return sum(x) / (len(x) - 1)
"""


def run(*arguments):
    """Run `workshop answers` and return its exit status and what it printed."""
    result = CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["answers", *arguments], catch_exceptions=False)
    return result.exit_code, result.output


def rows(output):
    """Return answer, expected, got and verdict of each row of the printed table."""
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line[:1] == "│"]
    return [(answer, expected, got, verdict) for answer, expected, got, _, verdict in cells]


@pytest.mark.needs("bwrap")
def test_agreement_ends_well(bank):
    """A bank whose answers all agree gives a table and exit status 0."""
    bank("mean", RIGHT + WRONG.replace("WORD", "AssertionError"))

    status, output = run("01", "--jobs", "2")

    assert rows(output) == [("library", "3.5", "3.5", "as expected"), ("off-by-one", "2.5", "2.5", "as expected")]
    assert "\n2 of 2 answers as expected" in output
    assert status == 0


@pytest.mark.needs("bwrap")
def test_a_disagreement_is_told_in_full(bank, tmp_path):
    """A bank in any folder will do; what disagrees is told with the message of the test, exit status 1."""
    bank("mean", RIGHT + WRONG.replace("WORD", "mean.wrong"))
    elsewhere = bank.folder.rename(tmp_path / "elsewhere")

    status, output = run("01-small", str(elsewhere))

    assert rows(output) == [("library", "3.5", "3.5", "as expected"), ("off-by-one", "2.5", "2.5", "disagrees")]
    assert "off-by-one: Divides by one less\n" in output
    assert "- mean-tests failed without mean.wrong: AssertionError: the mean of 1, 2 and 6 is 3\n" in output
    assert "\n1 of 2 answers as expected" in output
    assert status == 1


@pytest.mark.needs("bwrap")
def test_a_pattern_chooses_and_messages_are_shown_for_agreements_too(bank):
    """Case does not matter; what a test says is printed with `--messages` only."""
    bank("mean", RIGHT + WRONG.replace("WORD", "AssertionError"))

    quiet, told = (run("01", "-k", "DIVIDES", *options)[1] for options in ((), ("--messages",)))

    said = "\noff-by-one: Divides by one less\n- mean-tests: AssertionError: the mean of 1, 2 and 6 is 3\n"
    assert [row[0] for row in rows(quiet)] == ["off-by-one"]
    assert (said in quiet, said in told) == (False, True)


def test_a_pattern_that_fits_nothing_is_refused(bank):
    """A run of no answers would look like a success."""
    bank("mean", RIGHT)

    with pytest.raises(CourseKitError, match=r"library\. \[bank\.no-match\]"):
        run("01", "-k", "shard")


@pytest.mark.needs("bwrap")
def test_control_c_leaves_no_process(bank):
    """An interrupted bank ends all that was running: workers, sandboxes, and the processes of answers."""
    sleepers = [  # equal answers would be judged once
        RIGHT.replace("library", seconds) + f"    import subprocess; subprocess.run(['sleep', '{seconds}'])\n"
        for seconds in ("600", "601")
    ]
    bank("mean", "".join(sleepers))
    command = [sys.executable, "-c", "from workshop.cli import main; main()", "answers", "01", "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 300
    running = []
    while _count_sleeps(running) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        running = psutil.Process(process.pid).children(recursive=True)
    num_asleep = _count_sleeps(running)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=900)

    assert num_asleep == 2
    assert psutil.wait_procs(running, timeout=300)[1] == []
    assert b"Traceback" not in output
    assert process.returncode == 1


def _count_sleeps(processes):
    """Return how many of these are an answer's `sleep`; one that ends meanwhile is none."""
    num_sleeps = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            num_sleeps += process.name() == "sleep"
    return num_sleeps


@pytest.mark.parametrize("words", [("answers", "01"), ("attacks",)])
def test_a_missing_sandbox_is_told_at_once(words, monkeypatch):
    """Without bubblewrap the sentence comes before any lab is built."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(f"workshop.cli.{words[0]}.build_sources", None)
    with pytest.raises(CourseKitError, match="bubblewrap"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
