"""Whose fault it is when a submission's server cannot answer, and what it takes for a reply of a shell."""

from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np
import pytest

from coursekit.grading.inside import submission_server, wire
from coursekit.grading.inside.shell_process import ShellReply, read_reply


def ask(monkeypatch, error):
    """Return the reply of a server in which a request ends in this error, which no student's code can provoke."""

    def fail(**_):
        raise error

    submission = SimpleNamespace(run_cells=fail, call=fail, launch=fail, revive_shell=dict, close=lambda: None)
    monkeypatch.setattr(submission_server, "_Submission", lambda *_: submission)
    judge, theirs = Pipe()
    for op in ("call", "end"):
        judge.send_bytes(wire.dumps({"op": op}))
    submission_server.serve(theirs, {})
    return wire.loads(judge.recv_bytes())["reply"]


def test_isolation_that_fails_is_the_machines_fault(monkeypatch):
    """What the kit itself needs does not work."""
    assert ask(monkeypatch, submission_server.IsolationError("no shell")) == {"fault": "no shell"}


@pytest.mark.parametrize("error", [OSError("full"), MemoryError(), KeyError("x")], ids=repr)
def test_all_else_ends_the_server(error, monkeypatch):
    """A full disk, memory that is used up, a mistake of the kit's: the judge tells that as a fault, too."""
    with pytest.raises(type(error)):
        ask(monkeypatch, error)


@pytest.mark.parametrize(
    ("parts", "reply"),
    [
        ({"value": [1, None]}, ShellReply([1, None])),
        ({"value": None}, ShellReply(None, None)),
        ({"error": ["ValueError", "no"]}, ShellReply(error=["ValueError", "no"])),
    ],
)
def test_replies_are_read(parts, reply):
    """A value, or the name and the text of an exception, under the number of the request."""
    assert read_reply(wire.dumps({"number": 7, **parts}), 7) == reply


@pytest.mark.parametrize(
    "message",
    [
        {"number": 6, "value": 1},
        {"number": np.array([7, 7]), "value": 1},
        {"number": [7], "value": 1},
        {"number": True, "value": 1},
        {"value": 1},
        {"number": 7},
        {"number": 7, "value": 1, "error": ["ValueError", "no"]},
        {"number": 7, "value": 1, 3: 4},
        {"number": 7, "error": None},
        {"number": 7, "error": ["ValueError"]},
        {"number": 7, "error": ("ValueError", "no")},
        {"number": 7, "error": ["ValueError", 3]},
        [7, 1],
        None,
        *(b"", b"{", b'{"number": 7, "value": 1}', b"\xff"),  # which the wire itself refuses
    ],
    ids=repr,
)
def test_all_else_is_no_reply(message):
    """Another number or form is dropped, and nothing is raised."""
    number = 1 if isinstance(message, dict) and message.get("number") is True else 7
    data = message if isinstance(message, bytes) else wire.dumps(message)
    assert read_reply(data, number) is None
