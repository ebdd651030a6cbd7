"""The pictures of the lab on PyTorch say in words what they show."""

import pytest

from coursekit.pictures import sharding


@pytest.fixture
def shown(monkeypatch):
    """Return what is shown from now on: figures, each with its words."""
    found = []
    monkeypatch.setattr(sharding, "show", lambda *figure_and_words: found.append(figure_and_words))
    return found


def test_the_losses_are_those_of_the_epochs_that_were_trained(shown):
    """A training that continues shows its own epochs."""
    sharding.show_losses([{"epoch": epoch, "training": 3 / epoch, "validation": 4 / epoch} for epoch in (3, 4)])
    ((figure, words),) = shown

    assert [list(line.get_xdata()) for line in figure.axes[0].lines] == [[3, 4]] * 2
    assert "epochs 3 to 4: on the training samples from 1.00 to 0.75" in words


def test_a_training_that_was_complete_has_no_picture(shown, capsys):
    """It says so."""
    sharding.show_losses([])

    assert (shown, capsys.readouterr().out) == ([], "nothing was left to train\n")


def test_the_speed_is_that_of_a_rank_and_the_share_what_the_exchange_takes(shown):
    """100 samples in 1 ms alone, and in 2 ms on two ranks, of which the exchange takes three quarters."""
    sharding.show_speed([100], [0.001], [(0.002, 0.0005)], 2)
    ((figure, words),) = shown

    assert "1 rank 100 thousand samples per second each; 2 ranks 50 thousand" in words
    assert figure.axes[1].get_label() == "The allreduce takes 75 % of a step."


def test_a_trace_begins_at_its_first_span(shown):
    """Times are those of the trace, from its first span on."""
    sharding.show_trace([("backward", 7.0, 9.0), ("allreduce", 8.5, 9.5), ("backward", 9.0, 10.0)])

    assert "backward 2 spans from 0.0 to 3.0 ms; allreduce 1 span from 1.5 to 2.5 ms" in shown[0][1]
