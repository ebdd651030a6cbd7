"""What a class earned per property: which tests failed, how often, and the words most of them failed with."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coursekit.course.report.bars import Bar, bars_as_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from coursekit.course.grade import Graded

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Property:
    """One test cell of a lab, over the class.

    Attributes:
        lab: name of the lab.
        name: name of the test cell.
        max_points: its points.
        num_passed: hand-ins that passed.
        num_failed: hand-ins that did not.
        example: one of the messages that most of the failed ones share, apart from numbers; '' when none failed.
        num_alike: how many share it.
    """

    lab: str
    name: str
    max_points: float
    num_passed: int
    num_failed: int
    example: str = ""
    num_alike: int = 0

    @property
    def mean_points(self) -> float:
        """Mean of the points earned."""
        return self.max_points * self.num_passed / (self.num_passed + self.num_failed)


def properties(graded: Sequence[Graded]) -> tuple[Property, ...]:
    """Return every property that was asked, by lab, in the order of the notebook."""
    found: dict[tuple[str, str], Property] = {}
    messages: dict[tuple[str, str], list[str]] = {}
    for one in sorted(graded, key=lambda one: one.hand_in.lab):
        for score in one.verdict.scores:
            key = one.hand_in.lab, score.grade_id
            old = found.get(key) or Property(*key, score.max_points, 0, 0)
            messages.setdefault(key, []).extend([score.message] if score.message else [])
            num_passed, num_failed = old.num_passed + score.passed, old.num_failed + (not score.passed)
            found[key] = replace(old, num_passed=num_passed, num_failed=num_failed)
    return tuple(_with_example(one, messages[key]) for key, one in found.items())


def _with_example(one: Property, messages: Sequence[str]) -> Property:
    example, num_alike = most_common(messages)
    return replace(one, example=example, num_alike=num_alike)


def most_common(messages: Sequence[str]) -> tuple[str, int]:
    """Return a message that most share, and how many do; numbers differ from run to run, as inputs are random."""
    if not messages:
        return "", 0
    shape, num_alike = Counter(_shape(message) for message in messages).most_common(1)[0]
    return next(text for text in messages if _shape(text) == shape), num_alike


def _shape(message: str) -> str:
    return NUMBER.sub("#", message)


def draw(lab_properties: Sequence[Property]) -> Markup:
    """Return an SVG element: for each property of one lab how many hand-ins passed and failed."""
    bars = [
        Bar(one.name, one.num_passed, one.num_failed, f"{one.num_failed} of {one.num_passed + one.num_failed}")
        for one in lab_properties
    ]
    return bars_as_svg(f"bars-{lab_properties[0].lab}", bars, describe(lab_properties), ("passed", "failed"))


def describe(lab_properties: Sequence[Property]) -> str:
    """Return what the picture shows, in words."""
    worst = max(lab_properties, key=lambda one: one.num_failed)
    most = f"most often failed: {worst.name}" if worst.num_failed else "none failed"
    rows = ", ".join(f"{one.name} {one.num_passed} of {one.num_passed + one.num_failed}" for one in lab_properties)
    return f"Bars of the hand-ins that passed and failed each test of {lab_properties[0].lab}; {most}. Passed: {rows}."
