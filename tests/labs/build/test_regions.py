"""Regions are found as nbgrader finds them, and refused where nbgrader would guess."""

import pytest

from coursekit.labs.build.regions import Region, RegionError, find_regions, outside_regions

TWO = """before
    ### BEGIN SOLUTION
    first

    # second
    ### END SOLUTION
between
### BEGIN HIDDEN TESTS
  third
### END HIDDEN TESTS"""


def test_regions_come_in_order_with_their_lines():
    """A region is its kind, the two lines of its markers and what stands between."""
    assert find_regions(TWO) == (
        Region("SOLUTION", 1, 5, ("    first", "", "    # second")),
        Region("HIDDEN TESTS", 7, 9, ("  third",)),
    )


def test_what_stands_outside_is_public():
    """Markers and what they enclose are taken out."""
    assert outside_regions(TWO) == ["before", "between"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("### BEGIN SOLUTION\nx\n### BEGIN SOLUTION\ny\n### END SOLUTION", "BEGIN SOLUTION stands inside another"),
        ("x\n### BEGIN SOLUTION\nx", "BEGIN SOLUTION has no END SOLUTION after it"),
        ("x\n### END SOLUTION", "END SOLUTION has no BEGIN SOLUTION before it"),
        ("### BEGIN SOLUTION\nx\n### END HIDDEN TESTS", "END HIDDEN TESTS has no BEGIN HIDDEN TESTS before it"),
        ("### BEGIN SOLUTION\n\n### END SOLUTION", "the region BEGIN SOLUTION is empty"),
        ("### BEGIN SOLUTION\n    x = 1\n### END SOLUTION", "BEGIN SOLUTION is not indented as the line after it"),
    ],
)
def test_malformed_regions_are_refused(source, sentence):
    """The sentence says what is missing."""
    with pytest.raises(RegionError, match=f"^{sentence}"):
        find_regions(source)


@pytest.mark.parametrize(
    "marker",
    [
        "## BEGIN SOLUTION",
        "###BEGIN SOLUTION",
        "### begin solution",
        "### BEGIN SOLUTIONS",
        "# end  hidden test:",
        "x = 1  ### BEGIN SOLUTION",
        "the words BEGIN SOLUTION in prose",
        "### BEGIN MARK SCHEME",
    ],
)
def test_a_marker_that_is_nearly_right_is_refused(marker):
    """A slip of the pen must not publish an answer."""
    with pytest.raises(RegionError, match=r"^a marker of a region is a line of its own, such as"):
        find_regions(f"x\n{marker}")


def test_ordinary_comments_are_no_markers():
    """Words about solutions are fine."""
    assert find_regions("# the solution begins here\n# begin with the end\n# END of tests") == ()
