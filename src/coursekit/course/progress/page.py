"""The progress of a class as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.course.progress.missed import describe
from coursekit.course.progress.progress import STEPS
from coursekit.course.progress.summary import LETTERS, counts, mean_points, notes
from coursekit.course.report.properties import draw
from coursekit.files import write_file
from coursekit.pages import page_template

if TYPE_CHECKING:
    from datetime import datetime

    from coursekit.course.progress.progress import ClassProgress


def write_page(path: Path, found: ClassProgress, now: datetime, refresh_s: int = 0) -> None:
    """Write the page, whole or not at all, readable by its owner alone.

    `now` is when that was read, with its time zone; a browser loads it again after `refresh_s`, with 0 never.

    Raises:
        OSError: it cannot be written.
    """
    write_file(path, render(found, now, refresh_s).encode("utf-8", "replace"))


def render(found: ClassProgress, now: datetime, refresh_s: int = 0) -> str:
    """Return the page: all text escaped, and without control characters."""
    here = Path(__file__).parent
    return page_template("class_page.html.j2", here, here.parent).render(
        found=found,
        written=f"{now:%Y-%m-%d %H:%M:%S %Z}",
        counts={lab.lab.name: counts(found, lab) for lab in found.labs},
        means={lab.lab.name: mean_points(found, lab) for lab in found.labs},
        pictures={
            lab.lab.name: draw(lab.missed, describe(lab.lab.name, lab.missed), ("points earned", "points missed"))
            for lab in found.labs
            if any(one.num_graded for one in lab.missed)
        },
        notes=notes(found),
        steps=list(zip(STEPS, LETTERS)),
        words={True: "yes", False: "not yet", None: "not known"},
        signs={True: "✓", False: "·", None: "?"},
        refresh_s=refresh_s,
    )
