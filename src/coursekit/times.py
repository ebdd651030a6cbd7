"""Convert times to UTC without an offset, as nbgrader stores them, and to text for readers."""

from __future__ import annotations

from datetime import datetime, timezone


def utc(seconds: float) -> datetime:
    """Return a file's time, in seconds since the epoch, as UTC without an offset."""
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)


def shown(moment: datetime | None) -> str:
    """Return a time in UTC as text for readers; "an unknown time" for None."""
    return f"{moment.isoformat(sep=' ', timespec='seconds')} UTC" if moment else "an unknown time"


def duration(seconds: float) -> str:
    """Return an approximate duration as text, such as "3 h 05 min"."""
    hours, minutes = divmod(int(seconds // 60), 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
