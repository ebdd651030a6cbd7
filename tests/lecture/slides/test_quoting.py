"""Decks quote files of the repository as they are, and cannot quote what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.lecture.slides.deck import load_deck
from coursekit.lecture.slides.fill import Filler, quoted_lines

ROOT = Path(__file__).parents[3]
SCRIPT = """#!/bin/bash
#SBATCH --nodes=2                # two of them
#SBATCH --gres=gpu:4
# srun is below
export URL="https://example.org/#top" # an address
srun python train.py
"""


@pytest.fixture
def checkout(tmp_path):
    """Give a folder with one script."""
    (tmp_path / "job.sbatch").write_text(SCRIPT)
    return tmp_path


def test_lines_are_picked_by_how_they_begin(checkout):
    """In the file's order, whatever the order of the beginnings; without any, the whole file."""
    picked = quoted_lines(checkout, "job.sbatch", "srun", "#SBATCH")

    assert picked.splitlines() == [
        "#SBATCH --nodes=2                # two of them",
        "#SBATCH --gres=gpu:4",
        "srun python train.py",
    ]
    assert quoted_lines(checkout, "job.sbatch") == SCRIPT.rstrip("\n")


def test_words_behind_the_code_can_be_left_out(checkout):
    """A # that belongs to the code stays, and so does a line that is nothing but a comment."""
    picked = quoted_lines(checkout, "job.sbatch", "#SBATCH", "# srun", "export", comments=False)

    assert picked.splitlines() == [
        "#SBATCH --nodes=2",
        "#SBATCH --gres=gpu:4",
        "# srun is below",
        'export URL="https://example.org/#top"',
    ]


@pytest.mark.parametrize(
    ("name", "start", "message"),
    [
        ("other.sbatch", "srun", "there is no file other.sbatch to quote."),
        ("../outside", "srun", "there is no file ../outside to quote."),
        ("job.sbatch", "mpirun", "job.sbatch has no line that begins with 'mpirun'."),
    ],
)
def test_what_is_not_there_is_not_quoted(checkout, name, start, message):
    """No such file, a file outside of the checkout, no such line: one sentence says which."""
    (checkout.parent / "outside").write_text("srun\n")

    with pytest.raises(CourseKitError) as error:
        quoted_lines(checkout, name, start)
    assert str(error.value) == message


def test_a_deck_shows_the_script_that_people_submit(lecture):
    """Each quoted line stands in the committed job script."""
    name = "slurm/jobs/jean-zay/02-horovod-sgd.sbatch"
    deck = lecture.deck(
        "# One", f'## Two\n```bash\n{{{{ lines("{name}", "#SBATCH --nodes", "#SBATCH --gres") }}}}\n```'
    )
    filled = Filler(lecture.root, lecture.root / "build").fill(load_deck(deck))

    quoted = filled.split("```bash\n")[1].split("\n```")[0].splitlines()
    assert len(quoted) == 2
    assert set(quoted) < set((ROOT / name).read_text().splitlines())


def test_a_quotation_that_went_stale_names_the_deck(lecture):
    """When the script changes, the deck that quotes it is refused, with its line."""
    name = "slurm/jobs/jean-zay/02-horovod-sgd.sbatch"
    deck = lecture.deck("# One", f'## Two\n{{{{ lines("{name}", "#PBS") }}}}')

    with pytest.raises(
        CourseKitError, match=rf"slides/01-try.md, line \d+: {name} has no line that begins with '#PBS'"
    ):
        Filler(lecture.root, lecture.root / "build").fill(load_deck(deck))
