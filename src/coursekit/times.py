"""Times for people: UTC without an offset, as nbgrader has them."""

from __future__ import annotations

from datetime import datetime, timezone


def utc(seconds: float) -> datetime:
    """Return a time of the file system, UTC without an offset."""
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)


def shown(moment: datetime | None) -> str:
    """Return a time for people."""
    return f"{moment.isoformat(sep=' ', timespec='seconds')} UTC" if moment else "an unknown time"


def duration(seconds: float) -> str:
    """Return how long something is, roughly: "3 h 05 min"."""
    hours, minutes = divmod(int(seconds // 60), 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
