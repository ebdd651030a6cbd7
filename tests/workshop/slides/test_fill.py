"""Marks in a deck are filled in from recorded results, quoted facts, sites and labs, or refused with the line."""

import json
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from workshop.slides.deck import load_deck, slides_of
from workshop.slides.fill import THIN_SPACE, Filler, percent, quoted_lines, significant
from workshop.slides.sources import GLOSSARY, glossary, load_glossary

ROOT = Path(__file__).parents[3]
FACTS = '[facts.buffer]\nvalue = "128 MiB"\nsource = "The manual, 2023"\n'
PUBLISHED = 'source = "Somebody, 2017."\nmachine = "256 GPUs"\n[[rows]]\nnum_gpus = 8\nshare = 0.9\n'
RECORDED = {"command": "workshop record try", "machine": "2 cores", "date": "2026-01-02"}
SCRIPT = """#!/bin/bash
#SBATCH --nodes=2                # two of them
#SBATCH --gres=gpu:4
# srun is below
export URL="https://example.org/#top" # an address
srun python train.py
"""
JOB = "slurm/jobs/jean-zay/02-horovod-sgd.sbatch"
BARS = """
from workshop.slides.drawing import canvas
DATA, CAPTION = ("results/try",), "What is seen."
def draw(result):
    figure, (axes,) = canvas()
    axes.bar([0], [result["height"]])
    return figure
def words(result):
    return "A bar."
"""


def fill(lecture, *slides):
    """Return a deck's Markdown, filled in."""
    return Filler(lecture.root, lecture.root / "build").fill(load_deck(lecture.deck(*slides)))


def test_numbers_come_from_where_the_marks_say(lecture):
    """Results, facts, published figures, sites and labs stand in the text; the sources of what was quoted in a list."""
    lecture.write("facts/01-try.toml", FACTS)
    lecture.write("published/net.toml", PUBLISHED)
    lecture.write("recorders/try.py", "")
    lecture.write("results/try.json", json.dumps({"recorded": RECORDED, "pictures": {}, "data": {"seconds": 0.2345}}))
    minutes = next(lab.minutes for lab in find_labs(lecture.root) if lab.name == "01-sgd")

    filled = fill(
        lecture,
        "# {{ results.try.seconds | sig }} {{ facts.buffer }} {{ published.net.rows[0].share | percent }}\n"
        '{{ labs["01-sgd"].minutes }} {{ sites["jean-zay"].status }}\n\n{{ sources() }}',
    )

    assert f"# 0.23 128 MiB 90 %\n{minutes} current\n\n- The manual, 2023\n- Somebody, 2017. (256 GPUs)\n" in filled


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        ("{{ results.none.x }}", "recorder.missing"),
        ("{{ facts.none }}", "fact.unknown"),
        ("{{ published.none.rows }}", "published.missing"),
        ('{{ figure("none") }}', "figure.missing"),
        ('{{ glossary("ranc") }}', "glossary.no-term"),
        ('{{ lines("' + JOB + '", "#PBS") }}', "quotation.no-line"),
        ('{{ lines("../outside") }}', "quotation.no-file"),
        ("{{ nothing }}", "deck.undefined"),
        ("{{ }", "deck.syntax"),
    ],
)
def test_a_wrong_mark_is_named_with_its_line(lecture, mark, code):
    """The sentence says which deck, which line of it, and what is not there."""
    (lecture.root / "docs").symlink_to(ROOT / "docs")
    (lecture.root.parent / "outside").write_text("srun")

    with pytest.raises(CourseKitError) as error:
        fill(lecture, "# One", f"## Two\n\n{mark}")

    lines = (lecture.root / "slides/01-try.md").read_text().splitlines()
    assert str(error.value).startswith(f"slides/01-try.md, line {lines.index(mark) + 1}: ")
    assert error.value.code == code


def test_a_result_that_was_not_recorded_says_how_to(lecture):
    """A recorder that nobody has run yet is named with the command that runs it."""
    lecture.write("recorders/try.py", "")

    with pytest.raises(CourseKitError, match=r"try.json.*result.missing"):
        fill(lecture, "# {{ results.try.seconds }}")


def test_a_fact_stands_in_one_place(lecture):
    """Two files with a fact of the same name are refused, by that name."""
    lecture.write("facts/01-a.toml", FACTS)
    lecture.write("facts/02-b.toml", FACTS)

    with pytest.raises(CourseKitError, match=r"02-b.toml.*'buffer'.*fact.twice"):
        fill(lecture, "# One")


def test_numbers_are_rounded_for_people():
    """Two significant digits, groups of three, no powers of ten; shares in percent."""
    values = [0.000123, 0.2345, 1.0, 9.87, 12.34, 1234, 1_234_567, 0]

    assert [significant(value).replace(THIN_SPACE, "_") for value in values] == [
        *("0.00012", "0.23", "1.0", "9.9", "12", "1_200", "1_200_000", "0"),
    ]
    assert [percent(0.1234), percent(0.1234, 1)] == ["12 %", "12.3 %"]


def test_where_a_figure_comes_from_stands_in_the_notes(lecture):
    """Below the figure is a mark; machine, day and command are a note of its slide, and slide 1 tells the marks."""
    lecture.write("recorders/try.py", "")
    lecture.write("results/try.json", json.dumps({"recorded": RECORDED, "pictures": {}, "data": {"height": 3}}))
    lecture.write("figures/bars.py", BARS)

    first, second, third = slides_of(fill(lecture, "# One", '## Two\n\n{{ figure("bars") }}', "## Three"))

    origin = "Recorded on 2 cores, 2026-01-02: workshop record try."
    assert f"<!-- {origin} -->" in second.text
    assert f'<figcaption><span class="origin results" role="img" aria-label="a run of ours" title="{origin}">' in (
        second.text
    )
    assert "a run of ours" in first.text
    assert "a model" not in first.text
    assert "origin" not in third.text


def test_lines_are_picked_by_how_they_begin(tmp_path):
    """In the file's order; without beginnings the whole file; comments behind code, and only they, may be left out."""
    (tmp_path / "job.sbatch").write_text(SCRIPT)
    two, gres, words, url, srun = SCRIPT.splitlines()[1:]

    assert quoted_lines(tmp_path, "job.sbatch") == SCRIPT.rstrip("\n")
    assert quoted_lines(tmp_path, "job.sbatch", "srun", "#SBATCH").splitlines() == [two, gres, srun]
    picked = quoted_lines(tmp_path, "job.sbatch", "#SBATCH", "# srun", "export", comments=False)
    assert picked.splitlines() == [two.partition("  ")[0], gres, words, url.rpartition(" # ")[0]]


def test_every_row_of_the_glossary_is_a_term():
    """No row is left out for its form; a slide shows the terms that it asks for, in its order."""
    rows = [
        line
        for line in (ROOT / GLOSSARY).read_text().splitlines()
        if line.startswith("| ") and not line.startswith(("| term", "| ---"))
    ]
    meanings = load_glossary(ROOT)

    assert len(meanings) == len(rows)
    assert glossary(ROOT, "shard", "rank").splitlines()[2:] == [
        f"| **{term}** | {meanings[term]} |" for term in ("shard", "rank")
    ]
