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
    ("source", "code"),
    [
        ("### BEGIN SOLUTION\nx\n### BEGIN SOLUTION\ny\n### END SOLUTION", "region.nested"),
        ("x\n### BEGIN SOLUTION\nx", "region.no-end"),
        ("x\n### END SOLUTION", "region.no-begin"),
        ("### BEGIN SOLUTION\nx\n### END HIDDEN TESTS", "region.no-begin"),
        ("### BEGIN SOLUTION\n\n### END SOLUTION", "region.empty"),
        ("### BEGIN SOLUTION\n    x = 1\n### END SOLUTION", "region.indent"),
    ],
)
def test_malformed_regions_are_refused(source, code):
    """The message says what is missing."""
    with pytest.raises(RegionError) as caught:
        find_regions(source)

    assert caught.value.code == code


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
    """A typing error must not publish an answer."""
    with pytest.raises(RegionError) as caught:
        find_regions(f"x\n{marker}")

    assert caught.value.code == "region.marker"


def test_ordinary_comments_are_no_markers():
    """Words about solutions are fine."""
    assert find_regions("# the solution begins here\n# begin with the end\n# END of tests") == ()
