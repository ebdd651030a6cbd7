"""Find points that students lost between two readings of the gradebook, for example after regrading."""

from collections import defaultdict

from coursekit.course.status.points import Points
from coursekit.times import shown


def lost_points(before: Points, now: Points) -> tuple[str, ...]:
    """Return a sentence for each student or team whose points for a lab are lower now than before."""
    those: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (student, lab), one in sorted(now.graded.items()):
        former = before.graded.get((student, lab), one)
        if one.total < former.total:
            why = ""
            if (one.student, one.timestamp) != (former.student, former.timestamp):
                why = (
                    f": what {one.student} handed in at {shown(one.timestamp)} counts now, instead of what "
                    f"{former.student} handed in at {shown(former.timestamp)}; the section “Which version counts” "
                    "of docs/instructor.md says how to exclude a version"
                )
            those[lab, f"points fell from {former.total:g} to {one.total:g}{why}"].append(student)
    return tuple(f"{', '.join(students)}, {lab}: {what}. [points.lost]" for (lab, what), students in those.items())
