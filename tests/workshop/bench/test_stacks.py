"""The benchmark of both TensorFlows: each thing is really done, and medians are compared."""

import sys

import pytest

from workshop.bench import stacks


@pytest.mark.parametrize(("thing", "times"), [("import", 1), ("start", 5)])
def test_a_thing_is_measured_in_an_environment_of_its_own(thing, times, tmp_path):
    """A program of that environment does it, and says how long each time took."""
    ((_, seconds),) = stacks.measured_s(sys.executable, thing, tmp_path).items()

    assert len(seconds) == times
    assert all(one > 0.01 for one in seconds)


def test_medians_of_both_are_compared():
    """Above 1 the newer one is slower."""
    measured = {"stacks": {"2.15": {"import": [2.0, 9.0, 1.0]}, "2.21": {"import": [3.0, 5.0, 1.0]}}}

    assert stacks.stack_rows(measured)[1:] == [("import", "2.000", "3.000", "1.50", "3")]
