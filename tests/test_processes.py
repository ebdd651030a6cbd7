"""Signals that ask a run to stop, and the names of all."""

import os
import signal

import pytest

from coursekit.processes import STOPPING, StopSignals, signal_name


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_the_first_signal_interrupts_and_the_next_do_not(number):
    """Tidying up after the first one is not cut short, and the first one is remembered."""
    stop = StopSignals()
    with stop.handled():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
    assert (stop.received, stop.status) == (number, 128 + number)


def test_interrupts_count_also_in_the_background():
    """A script's shell switches SIGINT off in what it starts with `&`: it ends a run all the same."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with StopSignals().handled(), pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_put_back():
    """SIGHUP that was switched off stays off meanwhile, as under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        handlers = [signal.getsignal(number) for number in STOPPING]
        with StopSignals().handled():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
        assert [signal.getsignal(number) for number in STOPPING] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_has_a_name():
    """Also a real-time one, as shells call it; others have their number."""
    assert [signal_name(number) for number in (9, 32, 40, 100)] == ["SIGKILL", "signal 32", "SIGRTMIN+6", "signal 100"]
