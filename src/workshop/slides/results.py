"""Recorded results: what a run of `slides/recorders/<name>.py` measured, and when, where and by which command."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import runpy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_if_changed
from coursekit.labs.run.results import Facts

RECORDERS = "slides/recorders"
RESULTS = "slides/results"


@dataclass(frozen=True)
class RecordedResult:
    """One recorded result."""

    name: str  # the name of both its recorder and its file
    recorded: Mapping[str, Any]  # command, commit, machine, versions, date, seconds, and the recorder's checksum
    # What the recorder returned; if it took pictures, "pictures" holds the paths of PNG files by name.
    data: Mapping[str, Any]

    @property
    def words(self) -> str:
        """One line on where the numbers come from."""
        return f"Recorded on {self.recorded['machine']}, {self.recorded['date']}: {self.recorded['command']}."


def recorder_names(root: Path) -> list[str]:
    """Return the names of all recorders, sorted."""
    return sorted(path.stem for path in (root / RECORDERS).glob("*.py"))


def load(root: Path, name: str) -> RecordedResult:
    """Read a recorded result.

    Raises:
        CourseKitError: it has not been recorded yet, its file is damaged, or there is no such recorder.
    """
    path = root / RESULTS / f"{name}.json"
    if name not in recorder_names(root):
        raise CourseKitError(
            f"there is no {RECORDERS}/{name}.py to record the result {name!r}: write it.", "recorder.missing"
        )
    if not path.is_file():
        raise CourseKitError(f"{RESULTS}/{name}.json is missing: run `workshop record {name}`.", "result.missing")
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        recorded, data = table["recorded"], table["data"]
        pictures = {key: path.with_name(file) for key, file in table["pictures"].items()}
    except (ValueError, KeyError, TypeError) as error:
        raise CourseKitError(
            f"{RESULTS}/{name}.json is damaged ({error}): run `workshop record {name}`.", "result.damaged"
        ) from error
    return RecordedResult(name, recorded, {**data, "pictures": pictures} if pictures else data)


def record(root: Path, name: str, facts: Facts) -> Path:
    """Run a recorder, write its result, and return the result's path; an older result stays until the new one is ready.

    A recorder is a script with a function `record()`, which returns plain data. Under "pictures" it may return
    the bytes of PNG files by name, which are kept in separate files.
    `facts` has the machine and the commit as they were before the first of several results changed the checkout.
    """
    script = root / RECORDERS / f"{name}.py"
    start = time.monotonic()
    data = dict(runpy.run_path(str(script), run_name="recorder")["record"]())
    seconds = time.monotonic() - start
    folder = root / RESULTS
    pictures = {key: f"{name}-{key}.png" for key in data.get("pictures", {})}
    for key, content in data.pop("pictures", {}).items():
        write_if_changed(folder / pictures[key], content)
    table = {
        "recorded": {
            "command": f"workshop record {name}",
            "commit": facts.commit,
            "dirty": facts.dirty,
            "machine": f"{facts.num_cpus} cores of {facts.device}",
            "versions": facts.versions,
            "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
            "seconds": round(seconds, 1),
            "recorder": checksum(script),
        },
        "pictures": pictures,
        "data": data,
    }
    path = folder / f"{name}.json"
    write_if_changed(path, (json.dumps(table, indent=1) + "\n").encode())
    return path


def checksum(script: Path) -> str:
    """Return a fingerprint of a recorder, which shows whether a result comes from this version of it."""
    return hashlib.sha256(script.read_bytes()).hexdigest()[:16]
