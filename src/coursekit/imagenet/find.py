"""Find the data to train on: a folder that is given, or the made one, which the first call makes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import locked
from coursekit.imagenet.files import FORMAT_VERSION, SPLITS, list_files, read_manifest, stated_records
from coursekit.imagenet.make import find_preset

CACHE_VARIABLE = "COURSEKIT_DATA"
MAKE_TIMEOUT_S = 1800
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
        preset: which synthetic data.

    Raises:
        CourseKitError: when the folder lacks files, or the data cannot be made.
    """
    if folder:
        for split in SPLITS:
            list_files(folder, split)
        return Path(folder)
    wanted = find_preset(preset)
    place = _cache() / f"imagenet-{wanted.name}-{FORMAT_VERSION}"
    if not _is_whole(place):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            # Where nothing locks, each makes its own and one is kept.
            with locked(place.with_name(f".{place.name}.lock")):
                if not _is_whole(place):
                    print(f"making {wanted.num_images} images in {place}, once …", flush=True)
                    _make(place, preset)
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


def _is_whole(place: Path) -> bool:
    """Say whether every file that the manifest states is there with its size; reading all would take too long."""
    try:
        stated = read_manifest(place)
        files = [path for split in SPLITS for path in list_files(place, split)] if stated else []
    except CourseKitError:
        return False
    return bool(files) and all(stated_records(Path(file)) is not None for file in files)


def _make(place: Path, preset: str) -> None:
    """Make the data beside its place and move it there as a whole; complete a folder that is there already."""
    if place.exists():
        _make_in_other_process(place, preset)
        return
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as temporary:
        made = Path(temporary) / place.name
        _make_in_other_process(made, preset)
        try:
            made.rename(place)
        except OSError:
            # Another process was quicker: a folder with files in it is never replaced.
            if not _is_whole(place):
                raise


def _make_in_other_process(place: Path, preset: str) -> None:
    """Make the data where TensorFlow sees no GPU: a notebook that took one would leave none to its ranks."""
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", MAKE, str(place), preset],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MAKE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CourseKitError(
            f"{place} could not be made within {MAKE_TIMEOUT_S:g} s: see whether the disk is slow, and try again."
        ) from None
    if done.returncode:
        raise CourseKitError((done.stderr.strip().splitlines() or [f"{place} could not be made."])[-1])
