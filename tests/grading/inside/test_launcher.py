"""Whose fault it is when a launcher cannot answer."""

from __future__ import annotations

from errno import ENOSPC
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from coursekit.grading.inside import launcher, wire


def ask(monkeypatch, error, *, has_shell):
    """Return the reply of a launcher in which a request ends in this error, which no student's code can provoke."""

    def fail(**_):
        raise error

    shell = SimpleNamespace(close=lambda: None) if has_shell else None
    submission = SimpleNamespace(
        run_cells=fail, call=fail, launch=fail, revive_shell=dict, shell=shell, close=lambda: None
    )
    monkeypatch.setattr(launcher, "_Submission", lambda *_: submission)
    judge, theirs = Pipe()
    for op in ("call", "end"):
        judge.send_bytes(wire.dumps({"op": op}))
    launcher.serve(theirs, {})
    return wire.loads(judge.recv_bytes())["reply"]


def test_an_unknown_error_after_a_students_code_is_the_students(monkeypatch):
    """Another run would end the same, for ever."""
    kind, words = ask(monkeypatch, KeyError("x"), has_shell=True)["error"]
    assert kind == "ProcessEnded"
    assert "KeyError" in words


@pytest.mark.parametrize(
    ("error", "has_shell"), [(OSError(ENOSPC, "full"), True), (MemoryError(), True), (KeyError("x"), False)], ids=repr
)
def test_what_the_machine_lacks_remains_the_machines(error, has_shell, monkeypatch):
    """A full disk, memory that is used up, and all that fails before anything of a student's has run."""
    with pytest.raises(type(error)):
        ask(monkeypatch, error, has_shell=has_shell)


def test_isolation_that_fails_is_the_machines_fault(monkeypatch):
    """What the kit itself needs does not work."""
    assert ask(monkeypatch, launcher.IsolationError("no shell"), has_shell=True) == {"fault": "no shell"}
