"""The phases of steps in a timeline: worked out by hand."""

from __future__ import annotations

import json

import pytest

from coursekit.errors import CourseKitError
from coursekit.throughput import Phases, phases_of_steps


def reduction(tensor, ready_ms, sent_ms, done_ms):
    """Return the events of one reduction: the first rank has it, it is on the wire, it has arrived."""
    events = [
        {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1000 * ready_ms},
        {"ph": "E", "ts": 1000 * sent_ms},
        {"ph": "B", "name": "ALLREDUCE", "ts": 1000 * sent_ms},
        {"ph": "B", "name": "GLOO_ALLREDUCE", "ts": 1000 * sent_ms},
        {"ph": "E", "ts": 1000 * done_ms},
        {"ph": "E", "ts": 1000 * done_ms, "args": {"dtype": "float32", "shape": "[2, 3]"}},
    ]
    return [
        {"ph": "M", "pid": tensor, "args": {"name": f"gradient {tensor}"}},
        *({**one, "pid": tensor} for one in events),
    ]


def test_phases_add_up_to_steps(tmp_path):
    """Two tensors in three steps: ends at 10, 30 and 60 ms; the second step waits, the third has a long wire."""
    steps = [
        [(4, 5, 8), (5, 6, 10)],
        [(20, 26, 28), (22, 26, 30)],  # the first is ready 10 ms after the step before, both leave 6 ms later
        [(40, 41, 50), (41, 50, 60)],
    ]
    events = [event for step in steps for tensor, times in enumerate(step) for event in reduction(tensor, *times)]
    (tmp_path / "timeline.json").write_text(json.dumps(events))
    second, third = phases_of_steps(tmp_path / "timeline.json")

    assert second == pytest.approx((0.010, 0.006, 0.004))
    assert third == pytest.approx((0.010, 0.001, 0.019))
    assert isinstance(second, Phases)


def test_one_step_has_none_before_it(tmp_path):
    """One sentence says what is missing."""
    (tmp_path / "timeline.json").write_text(json.dumps(reduction(0, 1, 2, 3)))

    with pytest.raises(CourseKitError, match="less than two steps"):
        phases_of_steps(tmp_path / "timeline.json")
