"""Which Horovod the ranks run, for labs that measure it."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

from coursekit import STAMP


def horovod_build() -> str:
    """Return Horovod's version, and whether `make env` has changed it for ranks that share cores."""
    try:
        kind = json.loads(Path(sys.prefix, STAMP).read_text()).get("horovod")
    except FileNotFoundError:
        kind = None
    how = "changed for ranks that share cores" if kind == "fast" else "as released"
    return f"Horovod {metadata.version('horovod')}, {how}"
