"""The log of a job, read while it grows."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class LogReader:
    """What is new in a log, also when it appears late, is cut off in mid-letter, or begins again after a requeue."""

    path: Path
    position: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def read(self) -> str:
        """Return what was written since the last call; '' while there is no log."""
        try:
            with self.path.open("rb") as log:
                if self.path.stat().st_size < self.position:
                    self.position = 0
                log.seek(self.position)
                new = log.read()
        except OSError:
            return ""
        self.position += len(new)
        return self.decoder.decode(new)
