"""Text for people: numbers with their nouns, and lines that fit an output of JupyterLab."""

import pytest

from coursekit.checks import CheckError
from coursekit.text import NUM_COLUMNS, counted, wrapped


@pytest.mark.parametrize("words", ["1 epoch", "2 epochs", "1 batch", "2 batches", "0.5 nodes"])
def test_a_noun_stands_in_the_plural_as_english_has_it(words):
    """An epoch has no "es", since its ch is a k; a batch has."""
    number, noun = words.split()
    singular = {"epochs": "epoch", "batches": "batch", "nodes": "node"}.get(noun, noun)

    assert counted(float(number) if "." in number else int(number), singular) == words


def test_a_notebook_shows_a_long_message_broken_between_words():
    """JupyterLab would break it within a word; what goes on is set in, further than the line that it belongs to."""
    long = "expected the sum of all ranks " * 6
    [shown] = CheckError(f"the ring: {long}\n  rank 0: {long}\nend")._render_traceback_()

    lines = shown.splitlines()
    assert max(map(len, lines)) <= NUM_COLUMNS
    assert " ".join(shown.split()) == " ".join(f"CheckError: the ring: {long} rank 0: {long} end".split())
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 4, 4, 2, 6, 0]


def test_a_word_longer_than_a_line_stays_whole():
    """A path can be copied as it stands."""
    path = "/" + "folder/" * 20

    assert path in wrapped(f"no files in {path} at all").splitlines()[1].strip() + "/"
