"""Nothing secret passes, even when every step before went wrong."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.clear_solutions import release_notebook
from coursekit.labs.build.leaks import refuse_leaks, secret_lines, texts


@pytest.fixture
def source(course):
    """Return the source version of the example."""
    return source_notebook(course.add_lab("01-a"))


@pytest.fixture
def release(source):
    """Return the students' version of the example."""
    return release_notebook("01-a", source)


def test_secrets_are_the_lines_of_regions(source):
    """Short lines, such as `return twice`, stand in many places and count for nothing."""
    assert secret_lines(source) == {
        "twice = number + number",
        "assert double(21) == 42",
        "Because addition does it.",
    }


def test_what_the_author_shows_elsewhere_is_no_secret(course, example):
    """A hint in the text may give a line of the answer away on purpose."""
    hinted = example.replace("# Write a function.", "# Write a function with `twice = number + number` in it.")

    assert "twice = number + number" not in secret_lines(source_notebook(course.add_lab("01-a", hinted)))


def test_a_manual_cell_without_a_region_is_secret(course):
    """All of it is answer."""
    text = '# %% [markdown] role="manual" id="why" points=1\n# Because of the sum.\n'

    assert secret_lines(source_notebook(course.add_lab("01-a", text))) == {"Because of the sum."}


def test_a_right_release_passes(source, release):
    """The check is not simply always angry."""
    refuse_leaks("01-a", source, texts(release, {"files/a.txt": b"public"}))


@pytest.mark.parametrize(
    ("leak", "shown"),
    [
        ("    twice = number + number", "twice = number + number"),
        ("print(1); assert double(21) == 42", "assert double(21) == 42"),
        ("# ### BEGIN SOLUTION", "BEGIN SOLUTION"),
        ("END HIDDEN TESTS", "END HIDDEN TESTS"),
    ],
)
def test_a_leak_made_by_hand_is_found_in_cells_and_files(source, release, leak, shown):
    """The sentence says what leaks and where."""
    message = "01-a: {place} would show students {shown!r}, which belongs to an answer or a hidden test"

    with pytest.raises(CourseKitError) as in_file:
        refuse_leaks("01-a", source, texts(release, {"files/a.txt": f"x\n{leak}\n".encode()}))
    release.cells[4].source += f"\n{leak}"
    with pytest.raises(CourseKitError) as in_cell:
        refuse_leaks("01-a", source, texts(release, {}))

    assert str(in_file.value).startswith(message.format(place="files/a.txt", shown=shown))
    assert str(in_cell.value).startswith(message.format(place="cell 01-a-5", shown=shown))


def test_outputs_and_metadata_are_looked_at_too(source, release):
    """An answer printed by a cell that was run is a leak as well."""
    release.cells[4].outputs = [{"output_type": "stream", "name": "stdout", "text": "twice = number + number\n"}]

    with pytest.raises(CourseKitError, match="cell 01-a-5 would show students"):
        refuse_leaks("01-a", source, texts(release, {}))
