"""The way out of an exercise: a piece of the solution works, and its own check gives no points for it."""

import linecache

import pytest

from coursekit.checks import CheckError, check
from coursekit.checks.check import start_over
from coursekit.errors import CourseKitError
from coursekit.solution_snippet import checks_of_pieces, take, wrap

PIECE = wrap(["area", "edge"], "def area(a, b):\n    return times(a, b)\n")


@pytest.fixture(autouse=True)
def notebook():
    """Return the names of a notebook in which a piece was taken."""
    start_over()
    names = {"take": take, "times": lambda a, b: a * b}
    exec(f"area = take({PIECE!r})", names)  # noqa: S102  # a cell
    return names


def test_a_piece_finds_what_the_notebook_has(notebook):
    """It uses the student's own functions, also those that are defined anew after it was taken."""
    before = notebook["area"](2, 3)
    exec("def times(a, b): return 10 * a * b", notebook)  # noqa: S102  # the same

    assert (before, notebook["area"](2, 3)) == (6, 60)


def test_only_the_checks_of_the_piece_refuse_it(notebook):
    """Each check that looks at it says why there are no points; others pass."""
    del notebook
    for name in ("area", "edge"):
        with pytest.raises(CheckError, match=r"\[answer.taken\]"), check(name, section="1"):
            pass
    with check("volume", section="2"):
        pass


def test_an_answer_of_ones_own_is_checked_again(notebook):
    """As soon as it stands in place of the piece, but not while it only calls it."""
    exec("taken = area\ndef area(*args): return taken(*args)", notebook)  # noqa: S102  # the same
    with pytest.raises(CheckError, match=r"\[answer.taken\]"), check("area", section="1"):
        pass
    exec("taken = None", notebook)  # noqa: S102  # the same
    with check("area", section="1"):
        pass


def test_an_answer_below_the_piece_is_refused_as_in_grading(notebook, monkeypatch):
    """Who forgets to delete the piece from the cell of the answer is told before handing in."""
    cell = f"area = take({PIECE!r})\ndef area(a, b): return a * b\n"
    monkeypatch.setitem(linecache.cache, "<cell>", (len(cell), None, cell.splitlines(keepends=True), "<cell>"))
    exec(compile(cell, "<cell>", "exec"), notebook)  # noqa: S102  # the same

    with pytest.raises(CheckError, match=r"\[answer.taken\]"), check("area", section="1"):
        pass


def test_a_hand_in_shows_what_it_takes():
    """Wherever the piece stands, but not in a comment; other long words are no pieces."""
    assert checks_of_pieces(f"def area(a, b):\n    return take('{PIECE}')(a, b)") == {"area", "edge"}
    assert checks_of_pieces(f"%time mine = take(\n  '{PIECE}')") == {"area", "edge"}
    assert checks_of_pieces(f"area = take(\n    '{PIECE[:20]}'\n    '{PIECE[20:]}'\n)") == {"area", "edge"}
    assert checks_of_pieces(f"# area = take('{PIECE}')\n{'a' * 44} = 1\n{'_' * 41} = 2") == set()


@pytest.mark.parametrize("text", ["", "area", "a" * 44, PIECE[:-3], "ä"])
def test_half_a_piece_is_told(text):
    """What was not copied whole gets a sentence."""
    with pytest.raises(CourseKitError, match=r"\[piece.damaged\]"):
        take(text)
