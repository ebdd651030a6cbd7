"""Whose fault it is when a launcher cannot answer."""

from __future__ import annotations

from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from coursekit.grading.inside import launcher, wire


def ask(monkeypatch, error):
    """Return the reply of a launcher in which a request ends in this error, which no student's code can provoke."""

    def fail(**_):
        raise error

    submission = SimpleNamespace(run_cells=fail, call=fail, launch=fail, revive_shell=dict, close=lambda: None)
    monkeypatch.setattr(launcher, "_Submission", lambda *_: submission)
    judge, theirs = Pipe()
    for op in ("call", "end"):
        judge.send_bytes(wire.dumps({"op": op}))
    launcher.serve(theirs, {})
    return wire.loads(judge.recv_bytes())["reply"]


def test_isolation_that_fails_is_the_machines_fault(monkeypatch):
    """What the kit itself needs does not work."""
    assert ask(monkeypatch, launcher.IsolationError("no shell")) == {"fault": "no shell"}


@pytest.mark.parametrize("error", [OSError("full"), MemoryError(), KeyError("x")], ids=repr)
def test_all_else_ends_the_launcher(error, monkeypatch):
    """A full disk, memory that is used up, a mistake of the kit's: the judge tells that as a fault, too."""
    with pytest.raises(type(error)):
        ask(monkeypatch, error)
