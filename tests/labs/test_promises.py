"""What every exercise has: points, size, hint, stretch; and what every lab has around them."""

import re
from pathlib import Path

import nbformat
import pytest

from coursekit.framework import HOROVOD
from coursekit.labs.build.additions import CHOSEN
from coursekit.labs.build.build import source_notebook
from coursekit.labs.cells import QUIZ, is_solution
from coursekit.labs.lab import find_labs

ROOT = Path(__file__).parents[2]
LABS = sorted(path.name for path in (ROOT / "solutions").glob("[0-9]*"))


def released(lab):
    """Return the students' notebook of a lab."""
    return nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)


@pytest.mark.parametrize("lab", LABS)
def test_every_exercise_has_its_points_its_size_a_hint_and_a_stretch(lab):
    """Between two answers a text states the points, a hint and a stretch to unfold; the stub states its size."""
    cells = released(lab).cells
    incomplete, text = [], ""
    for cell in cells:
        if cell.cell_type == "markdown":
            text += cell.source
        if is_solution(cell):
            wanted = ["**Exercise (", "<summary>Hint", "<summary>Stretch, without points<"]
            wanted += ["# about "] if cell.cell_type == "code" else []  # a text says it in words
            incomplete += [(cell.id, words) for words in wanted if words not in text + cell.source]
            text = ""

    assert incomplete == []


@pytest.mark.parametrize("lab", LABS)
def test_points_in_the_text_are_those_of_the_tests(lab):
    """The points that the exercises name add up to those that the tests give, 20 per lab."""
    cells = released(lab).cells
    given = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells)
    named = [text.split(" ", 1)[0] for cell in cells for text in cell.source.split("**Exercise (")[1:]]

    assert (given, sum(map(int, named))) == (20, 20)


@pytest.mark.parametrize("lab", find_labs(ROOT), ids=lambda lab: lab.name)
def test_minutes_in_the_text_are_those_of_the_lab(lab):
    """The first cell states the minutes of lab.toml; those at the sections add up to them."""
    cells = released(lab.name).cells
    at_sections = [int(found) for cell in cells for found in re.findall(r"(?m)^## .*\((\d+) minutes\)$", cell.source)]

    assert f"**{lab.minutes} minutes, " in cells[0].source
    assert sum(at_sections) == lab.minutes


def quizzes(notebook):
    """Return the cells of a notebook in which to choose, by their ids."""
    return {cell.id: cell.source for cell in notebook.cells if QUIZ in cell.metadata.get("tags", [])}


@pytest.mark.parametrize("lab", find_labs(ROOT), ids=lambda lab: lab.name)
def test_a_lab_has_two_quizzes_of_which_every_choice_is_explained(lab, capsys):
    """One choice is right, which is that of the solution, two or three are wrong; students begin without one."""
    solved = quizzes(source_notebook(lab))
    open_ones = quizzes(released(lab.name))
    for source in solved.values():
        told = {}
        for letter in ("A", "B", "C", "D"):
            exec(CHOSEN.sub(letter, source), {})  # noqa: S102  # the cell
            told[letter] = capsys.readouterr().out
        right = [letter for letter, text in told.items() if re.match(r"✓ . is right\. .{20}", text)]
        wrong = [letter for letter, text in told.items() if re.match(r"✗ . is wrong\. .{20}", text)]

        assert (right, len(wrong) in {2, 3}) == (CHOSEN.findall(source), True)
    assert open_ones == {name: CHOSEN.sub("", source) for name, source in solved.items()}
    assert len(open_ones) == 2


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_ends_with_what_one_can_do_now_and_where_to_read_on(lab):
    """Three places on the web, after a list of what was learnt."""
    cells = released(lab).cells
    end = next(cell.source for cell in cells if cell.id == "end")
    able, _, links = end.partition("## What you can now do\n")[2].partition("**Further reading**\n")

    assert len(re.findall(r"(?m)^- .", able)) >= 3
    assert len(re.findall(r"(?m)^- \[[^]]+\]\(https://[^)]+\): .", links)) == 3


@pytest.mark.parametrize("lab", [lab.name for lab in find_labs(ROOT) if lab.framework == HOROVOD])
def test_the_notebook_leaves_gpus_to_its_ranks(lab):
    """With TensorFlow it would take all memory of a GPU; a training's script, which is a rank, needs one."""
    hides = [cell for cell in released(lab).cells if 'tf.config.set_visible_devices([], "GPU")' in cell.source]
    script = ROOT / "labs" / lab / "train.py"

    assert [cell.cell_type for cell in hides] == ["code"]
    assert not script.exists() or 'set_visible_devices([], "GPU")' not in script.read_text(encoding="utf-8")
