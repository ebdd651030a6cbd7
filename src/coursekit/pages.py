"""Fill HTML pages from templates: all text is escaped, and control characters are replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from coursekit.text import printable


def page_template(name: str, *folders: Path, **filters: Callable[..., Any]) -> Template:
    """Return an HTML template from the first folder that has it; rendering fails if a variable is undefined.

    The template may include `page_style.css.j2`, the style that all reports share.
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
