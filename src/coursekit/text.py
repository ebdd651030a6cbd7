"""Text of a student's, made fit for terminals and files."""

from __future__ import annotations

import re

# Terminals obey control characters, and others turn the direction of what follows.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain_text(text: str) -> str:
    """Return a text with a mark in place of every character that does more than stand there."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
