"""Find the data to train on: a folder that is given, or the made one, which the first call makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import locked
from coursekit.imagenet.files import SPLITS, list_files
from coursekit.imagenet.make import PRESETS, is_made

CACHE_VARIABLE = "COURSEKIT_DATA"
MAKE = """
import sys
from coursekit.errors import CourseKitError
from coursekit.imagenet import make_data
try:
    make_data(*sys.argv[1:])
except CourseKitError as error:
    sys.exit(str(error))
"""


def find_data(folder: str = "", preset: str = "tiny") -> Path:
    """Return a folder with training and validation files.

    Args:
        folder: one with ImageNet's TFRecord files, or "" for synthetic data, in the user's cache:
            `$COURSEKIT_DATA` when that is set, else `coursekit/` in `$XDG_CACHE_HOME` or `~/.cache`.
            The first call makes it; other processes that ask meanwhile wait.
        preset: which synthetic data, "tiny", "small" or "bench".

    Raises:
        CourseKitError: when the folder lacks files, or the data cannot be made.
    """
    if folder:
        for split in SPLITS:
            list_files(folder, split)
        return Path(folder)
    wanted = PRESETS[preset]
    place = _cache() / f"imagenet-{wanted.name}"
    if not is_made(place, wanted):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with locked(place.with_name(f".{place.name}.lock")):
                if not is_made(place, wanted):
                    print(f"making {wanted.num_images} images in {place}, once …", flush=True)
                    _make_in_other_process(place, preset)
        except OSError as error:
            raise CourseKitError(
                f"{place} cannot be made ({error.strerror or error}): set ${CACHE_VARIABLE} to one of your folders."
            ) from error
    return place


def _cache() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "coursekit"


def _make_in_other_process(place: Path, preset: str) -> None:
    """Make the data where TensorFlow sees no GPU: a notebook that took one would leave none to its ranks."""
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", MAKE, str(place), preset]
    done = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseKitError((done.stderr.strip().splitlines() or [f"{place} could not be made."])[-1])
