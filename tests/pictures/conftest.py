"""Pictures that are drawn and not shown."""

import pytest

from coursekit.pictures import feeding, messages, predictions, tensorboard


@pytest.fixture
def drawn(monkeypatch):
    """Return the figures that are drawn from now on, each with its words."""
    found = []
    for module in (feeding, messages, predictions, tensorboard):
        monkeypatch.setattr(module, "show", lambda *figure_and_words: found.append(figure_and_words))
    return found


@pytest.fixture
def described(drawn):
    """Return a function that returns the words of the figures drawn so far."""
    return lambda: [words for _, words in drawn]
