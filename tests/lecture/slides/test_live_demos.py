"""What a lecturer shows live stands in the notes: it runs as it is written, and prints what its last comments say."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from coursekit.lecture.slides.deck import find_decks, slides_of

ROOT = Path(__file__).parents[3]
NOTE = re.compile(r"<!--(.*?)-->", re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
WITH_SLIDERS = {"11-scaling"}  # moved on the slide itself
DEMOS = [
    (deck.name, slide.number, code)
    for deck in find_decks(ROOT)
    for slide in slides_of(deck.body)
    for note in NOTE.findall(slide.text)
    for code in BLOCK.findall(note)
]


def test_every_deck_has_a_demo():
    """Each session says in its notes what to show live, but the one with sliders."""
    assert {deck.name for deck in find_decks(ROOT) if "Live demo" not in deck.body} - WITH_SLIDERS == set()


@pytest.mark.parametrize("code", [code for *_, code in DEMOS], ids=[f"{deck}-{number}" for deck, number, _ in DEMOS])
def test_it_prints_what_the_note_says(code, tmp_path):
    """The comments at a demo's end are its output, line by line."""
    from_the_end = takewhile(lambda line: line.startswith("# "), reversed(code.splitlines()))
    told = [line[2:] for line in from_the_end][::-1]
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == told != []
