"""Pages for the instructor alone: where they lie, and how their templates are filled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coursekit.grading.submission.times import shown
from coursekit.text import plain_text

if TYPE_CHECKING:
    from datetime import datetime

    from jinja2 import Template

    from coursekit.course.folder import Course

REPORTS = "reports"
PRIVATE_MODE = 0o700  # students pass through the course folder


def report_path(course: Course, kind: str, now: datetime) -> Path:
    """Return where a report goes; its folder is made."""
    folder = course.folder / REPORTS
    folder.mkdir(mode=PRIVATE_MODE, exist_ok=True)
    return folder / f"{kind}-{now:%Y-%m-%dT%H-%M-%S}.html"


def page_template(folder: Path, name: str) -> Template:
    """Return a template of `folder`, with the style of all pages: all text is escaped, without control characters."""
    environment = Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    environment.filters.update(shown=shown)
    return environment.get_template(name)


def _plain(value: object) -> object:
    return plain_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value
