"""Watching a run: live output marked with the rank, and deadlines that say who waits for whom."""

import inspect
import os
import re
import sys
import time

import cloudpickle
import numpy as np
import pytest

from coursekit import corrected_time, ranks
from coursekit.ranks import RankTimeoutError
from coursekit.ranks.line_printer import MAX_BYTES_PER_RANK

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

DEADLINE_S = 1.5
FOR_EVER_S = 3600


def write_odd_bytes():
    """Write to both standard streams, from Python and past it, with and without the end of a line."""
    rank = os.environ["HOROVOD_RANK"]
    print(f"to stdout, {rank}")
    print(f"to stderr, {rank}", file=sys.stderr)
    os.write(1, b"\xff\x00\xfe junk\n")
    print("no end of line", end="")


def test_every_line_is_marked_and_nothing_lands_on_stderr(capfd):
    """Text on a notebook's stderr would cost points in nbgrader; junk and a missing line end are survived."""
    ranks.run(write_odd_bytes)
    shown = capfd.readouterr()
    for rank in (0, 1):
        lines = [line[4:] for line in shown.out.splitlines() if line.startswith(f"[{rank}] ")]
        assert lines == [f"to stdout, {rank}", f"to stderr, {rank}", "\ufffd\x00\ufffd junk", "no end of line"]
    assert len(shown.out.splitlines()) == 8
    assert shown.err == ""
    ranks.run(write_odd_bytes, show_output=False)
    assert capfd.readouterr() == ("", "")


def write_too_much():
    """Write 20 MB: rank 0 in lines, rank 1 in a single line."""
    end = "\n" if os.environ["HOROVOD_RANK"] == "0" else " "
    for number in range(20_000):
        print(f"{number:0999d}", end=end)
    return "done"


def test_very_much_output_is_cut_and_the_run_goes_on(capfd):
    """Each rank gets to show 1 MiB, then a sentence says that there was more."""
    assert ranks.run(write_too_much) == ["done", "done"]
    lines = capfd.readouterr().out.splitlines()
    for rank in (0, 1):
        own = [line for line in lines if line.startswith(f"[{rank}] ")]
        assert "1024 KiB" in own[-1]
        assert len("\n".join(line[4:] for line in own[:-1])) == pytest.approx(MAX_BYTES_PER_RANK, abs=1)


def multiply_with_16_bits():
    """Return an element of a product, which oneDNN computes in another way on most CPUs, and logs so."""
    import tensorflow as tf

    ones = tf.ones((64, 64), tf.float16)
    return float(tf.matmul(ones, ones)[0, 0])


def test_nobody_is_told_how_a_cpu_computes_with_16_bits(capfd):
    """TensorFlow says so on every rank, as an error, in the middle of what a notebook prints."""
    assert ranks.run(multiply_with_16_bits, num_ranks=2) == [64.0, 64.0]
    assert capfd.readouterr() == ("", "")


def timed_out(function, timeout_s=DEADLINE_S, **settings):
    """Run a function that hangs; return the error, and check that the deadline was waited for."""
    begin = time.monotonic()
    with pytest.raises(RankTimeoutError) as caught:
        ranks.run(function, timeout_s=timeout_s, **settings)
    assert timeout_s <= time.monotonic() - begin < FOR_EVER_S
    return caught.value


def broadcast_on_rank_0():
    """Broadcast on rank 0 only; the others sleep."""
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.rank() == 0:
        hvd.broadcast(np.zeros(3), root_rank=0)
    time.sleep(FOR_EVER_S)


def test_a_deadline_names_the_collective_the_line_and_who_waits_for_whom():
    """The first lines are the whole story; below them is the stack of every rank."""
    error = timed_out(broadcast_on_rank_0, num_ranks=3)
    story, *stacks = str(error).split("\n\n")
    broadcast, sleep = (line_of(broadcast_on_rank_0, words) for words in ("hvd.broadcast(", "time.sleep("))
    first, *positions, conclusion = story.splitlines()

    assert (error.code, "1.5 s" in first) == ("ranks.deadline", True)
    assert positions[0] == f"  rank 0 waits in hvd.broadcast ({broadcast})"
    assert [position.endswith(f" ({sleep})") for position in positions[1:]] == [True, True]
    assert conclusion.endswith("rank 0 waits for ranks 1 and 2.")
    assert [f"of rank {rank} " in stack.splitlines()[0] for rank, stack in enumerate(stacks)] == [True] * 3


def line_of(function, words):
    """Return how a message names the line of `function` that holds these words."""
    lines, first = inspect.getsourcelines(function)
    number, text = next((number, text) for number, text in enumerate(lines, first) if words in text)
    return f"test_watch.py, line {number} in {function.__name__}: `{text.strip()}`"


def loop_on_rank_1():
    """Compute for ever on rank 1; rank 0 returns, and rank 2 sleeps."""
    import horovod.tensorflow as hvd

    hvd.init()
    while hvd.rank() == 1:
        pass
    if hvd.rank() == 2:
        time.sleep(FOR_EVER_S)
    return "returned"


def test_a_rank_that_computes_for_ever_is_ended_and_called_an_endless_loop():
    """A busy loop in Python is shown as such, and a rank that sleeps computes nothing."""
    error = timed_out(loop_on_rank_1, timeout_s=4, num_ranks=3)
    positions = re.findall(r"^  rank \d .*", str(error), re.MULTILINE)

    assert ["endless loop" in position for position in positions] == [False, True, False]
    assert "line" not in positions[0]
    assert "in loop_on_rank_1: `" in positions[1]


def sleep_deaf():
    """Ignore every signal that can be ignored, and sleep."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(FOR_EVER_S)


def test_a_rank_that_ignores_signals_is_ended_too():
    """A rank whose stack cannot be had is still ended at the deadline, and the message still comes."""
    assert timed_out(sleep_deaf).code == "ranks.deadline"


def test_a_machine_that_is_too_slow_is_no_rank_s_fault(monkeypatch):
    """When wall-clock time has gone far beyond the deadline and the ranks' own time has not, nothing is known."""
    monkeypatch.setattr(corrected_time, "LEAST_WALL_S", 1.0)  # such a slow machine cannot be had in a test
    monkeypatch.setattr(corrected_time, "SLOWEST", 0.0)
    with pytest.raises(ranks.MachineTooSlowError) as caught:
        ranks.run(time.sleep, FOR_EVER_S)
    assert caught.value.code == "machine.too-slow"
