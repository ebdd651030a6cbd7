"""The record of a submission fits into the judge's memory, whatever a submission returns."""

import numpy as np
import pytest

from coursekit.grading.judge import conversation
from coursekit.grading.judge.conversation import Live


class Generous:
    """Stands for a sandbox whose submission returns as much as it may, each time."""

    def __init__(self):
        self.num_asked = 0
        self.own_s = 0.0

    def ask(self, request, timeout_s):
        """Return four megabytes."""
        del request, timeout_s
        self.num_asked += 1
        return {"value": np.zeros(500_000)}


def test_a_submission_that_returns_too_much_is_asked_no_more():
    """Each reply is kept to judge from; when the limit is passed, further requests are answered without asking."""
    run = Generous()
    live = Live(run, limit_s=60, num_bytes_left=20_000_000)
    replies = [live.ask({"op": "call"}, 1.0) for _ in range(10)]
    assert run.num_asked == 4  # each takes 5.3 MB as text
    assert [reply["error"][0] for reply in replies[4:]] == ["OutputError"] * 6
    assert sum(len(exchange.reply) for exchange in live.exchanges) < 22_000_000
    assert pytest.approx(256e6, rel=0.1) == conversation.MAX_RECORD_BYTES
