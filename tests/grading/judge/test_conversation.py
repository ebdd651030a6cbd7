"""The record of a run: the same questions get the same answers, and other questions none."""

from __future__ import annotations

import pytest

from coursekit.checks import linear
from coursekit.checks.check import CheckError
from coursekit.checks.on_ranks import AnswerError, RemoteAnswer
from coursekit.checks.random_inputs import fresh_rng, repeatable
from coursekit.grading.inside import wire
from coursekit.grading.judge.conversation import Live, Recorded
from coursekit.grading.judge.remote_answers import Sandboxed
from coursekit.grading.judge.running import Fault


class Here:
    """Stands for a sandbox: calls a function of this process."""

    def __init__(self, function):
        self.function = function
        self.num_calls = 0
        self.own_s = 0.0

    def ask(self, request, timeout_s):
        """Return what the function returns."""
        del timeout_s
        self.num_calls += 1
        driver, args = wire.loads(request["call"], {"loss": self.function})
        return {"value": driver(*args)}


def loss(slope, offset, x, y):
    """Return the mean squared error."""
    return ((slope * x + offset - y) ** 2).mean()


def check_with(conversation, entropy):
    """Run a check of lab 01 with random inputs; return what it says."""
    with repeatable(entropy):
        try:
            linear.check_loss(RemoteAnswer("loss", Sandboxed(conversation)))
        except (CheckError, AnswerError) as error:
            return str(error)
    return "passed"


@pytest.mark.parametrize("function", [loss, lambda *_: 7.0], ids=["right", "wrong"])
def test_a_verdict_follows_from_the_record_alone(function):
    """The second time nobody is asked, and the words are the same."""
    here = Here(function)
    live = Live(here, limit_s=60)
    first = check_with(live, entropy=1)
    num_calls = here.num_calls

    again = check_with(Recorded(live.exchanges), entropy=1)

    assert again == first
    assert here.num_calls == num_calls > 0


def test_other_questions_are_a_fault():
    """A judge that asks something else than the first time, or more, must not get an answer."""
    live = Live(Here(loss), limit_s=60)
    check_with(live, entropy=1)

    for exchanges, entropy in ((live.exchanges, 2), (live.exchanges[:-1], 1), ([], 1)):
        with pytest.raises(Fault, match="could not be repeated"):
            check_with(Recorded(exchanges), entropy)


def test_when_the_time_is_up_nothing_is_asked():
    """A submission that has used its time is not run on; every further question says so."""
    here = Here(loss)

    assert "0 s for the whole notebook were used up" in check_with(Live(here, limit_s=0), entropy=1)
    assert here.num_calls == 0


def test_random_inputs_follow_from_entropy_and_order():
    """Seeds that can be read in the notebook count for nothing under a judge, and outside of it they do."""

    def draw(seed):
        return fresh_rng(seed).integers(2**62)

    with repeatable(5):
        first = [draw(1), draw(1), draw(None)]
    with repeatable(5):
        again = [draw(2), draw(None), draw(1)]
    with repeatable(6):
        other = draw(1)

    assert first == again
    assert len({*first, other, draw(1)}) == 5
    assert draw(1) == draw(1)
    assert draw(None) != draw(None)
