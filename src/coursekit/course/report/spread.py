"""How the points of a class spread over a lab, and whose are so few that they need help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.course.report.bars import Bar, bars_as_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from coursekit.course.grade import GradedHandIn

NUM_BINS = 5
HELP = 0.5  # of the points: who has less needs help


def needs_help(graded: Sequence[GradedHandIn]) -> list[GradedHandIn]:
    """Return the hand-ins with less than half of the points of their tests, the fewest first."""
    weak = [one for one in graded if one.verdict.scores and _share(one) < HELP]
    return sorted(weak, key=_share)


def points_words(one: GradedHandIn) -> str:
    """Return points and maximum of a hand-in: "3/20"."""
    return f"{one.verdict.points:g}/{one.verdict.max_points:g}"


def spread(lab: str, graded: Sequence[GradedHandIn]) -> list[int]:
    """Return how many hand-ins of a lab have up to a fifth of the points, two fifths, …; shape (`NUM_BINS`,)."""
    shares = [_share(one) for one in graded if one.hand_in.lab == lab and one.verdict.scores]
    bins = [min(int(share * NUM_BINS), NUM_BINS - 1) for share in shares]
    return [bins.count(number) for number in range(NUM_BINS)]


def draw_spread(lab: str, graded: Sequence[GradedHandIn]) -> Markup:
    """Return an SVG element with a bar for each fifth of a lab's points."""
    counts = spread(lab, graded)
    width = 100 // NUM_BINS
    labels = [f"{i * width} to {(i + 1) * width} % of the points" for i in range(NUM_BINS)]
    bars = [Bar(label, num, sum(counts) - num, str(num)) for label, num in zip(labels, counts)]
    alt = f"Bars of the hand-ins of {lab} by their points: " + ", ".join(
        f"{num} with {label}" for label, num in zip(labels, counts)
    )
    return bars_as_svg(f"spread-{lab}", bars, f"{alt}.", ("hand-ins", ""))


def _share(one: GradedHandIn) -> float:
    return one.verdict.points / one.verdict.max_points if one.verdict.max_points else 1.0
