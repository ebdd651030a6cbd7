"""Pages of HTML, filled from a template: all text is escaped, and stands without control characters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from coursekit.text import printable


def page_template(name: str, *folders: Path, **filters: Callable[..., Any]) -> Template:
    """Return a template of HTML from the first of the folders that has it; what is not defined is an error.

    It may include the style that reports share, `page_style.css.j2`.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    environment.filters.update(filters)
    return environment.get_template(name)


def _plain(value: object) -> object:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
