"""Find the data to train on: a given folder, or synthetic images in ImageNet's format, which the first call makes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.files import locked, write_text
from coursekit.imagenet.files import SPLITS, Progress, file_name, list_files
from coursekit.imagenet.patterns import class_name, draw
from coursekit.imagenet.records import (
    FIRST_LABEL,
    LAST_LABEL,
    PART_SUFFIX,
    LabelledImage,
    count_records,
    write_images,
)
from coursekit.text import first_few

MARK = "synthetic.txt"  # contains the preset's name, and shows that we made the folder's files
# As in ImageNet, most images are 500 pixels wide or high, in the aspect ratios of cameras.
CAMERA_SIZES = ((375, 500), (333, 500), (500, 375), (375, 500), (400, 500), (500, 333), (375, 500), (281, 500))
CACHE_VARIABLE = "COURSEKIT_DATA"
MAKE = "import sys; from coursekit.imagenet import make_data; make_data(*sys.argv[1:])"


class Split(NamedTuple):
    """One split of a preset: its number of files, and the number of images in all of them together."""

    name: str
    num_files: int
    num_images: int


@dataclass(frozen=True)
class Preset:
    """How much data to make, and what its images look like."""

    name: str
    splits: tuple[Split, Split]
    num_classes: int  # at most 50; their labels are spread from 1 to 1000, both included
    sizes: tuple[tuple[int, int], ...]  # (height, width) of images in pixels, each chosen as often as it is listed
    noise: int  # the most by which noise changes a pixel, out of 255
    quality: int  # of the JPEGs, 1 to 100
    num_bytes: int  # approximate size on disk
    seed: int = 2019

    @property
    def num_images(self) -> int:
        """The number of images in both splits."""
        return sum(split.num_images for split in self.splits)


PRESETS = {
    "tiny": Preset(
        name="tiny",
        splits=(Split("train", 16, 1024), Split("validation", 4, 200)),
        num_classes=8,
        sizes=((96, 128), (128, 96), (112, 112), (96, 120), (120, 104), (128, 128)),
        noise=12,
        quality=85,
        num_bytes=6_000_000,
    ),
    "small": Preset(
        name="small",
        splits=(Split("train", 64, 10_000), Split("validation", 8, 1000)),
        num_classes=50,
        sizes=((160, 160),),
        noise=12,
        quality=85,
        num_bytes=80_000_000,
    ),
    "bench": Preset(
        name="bench",
        splits=(Split("train", 128, 4096), Split("validation", 16, 512)),
        num_classes=50,
        sizes=CAMERA_SIZES,
        noise=28,
        quality=95,
        num_bytes=500_000_000,
    ),
}


class PlannedFile(NamedTuple):
    """One file to make: its name, the seeds of its images, and the class of each image."""

    name: str
    seeds: tuple[int, int, int]
    classes: tuple[int, ...]


def make_data(folder: str | os.PathLike[str], preset: str, progress: Progress | None = None) -> Path:
    """Make the data of a preset in a folder, and keep complete files that are already there.

    Each file appears whole or not at all, so after an interruption the next call continues where the last call stopped.

    Args:
        folder: created if it does not exist; otherwise it must be empty or hold this preset's files.
        preset: "tiny", "small" or "bench".
        progress: called after each file, with its name, the number of images done, and the total.

    Raises:
        CourseKitError: the folder holds something else, or cannot be written, for example on a full disk.
    """
    place, wanted = Path(folder), PRESETS[preset]
    num_done = 0
    try:
        place.mkdir(parents=True, exist_ok=True)
        _claim(place, wanted)
        for file in plan(wanted):
            if not _is_whole(place, file):
                write_images(place / file.name, images(wanted, file), wanted.quality)
            num_done += len(file.classes)
            if progress:
                progress(file.name, num_done, wanted.num_images)
    except OSError as error:
        raise CourseKitError(f"{place} cannot be written: {error.strerror or error}.", "data.not-writable") from error
    return place


def is_made(place: Path, preset: Preset) -> bool:
    """Return whether a folder holds all files of a preset, each with the right number of records."""
    return all(_is_whole(place, file) for file in plan(preset))


def plan(preset: Preset) -> list[PlannedFile]:
    """Return the files of a preset; as in ImageNet, each file mixes classes, and files differ in size."""
    files = []
    for split_number, split in enumerate(preset.splits):
        rng = np.random.default_rng([preset.seed, split_number])
        classes = rng.permutation(np.arange(split.num_images) % preset.num_classes).tolist()
        shares = np.cumsum(rng.integers(3, 6, split.num_files))
        ends = [0, *(int(share) * split.num_images // int(shares[-1]) for share in shares)]
        for number, (begin, end) in enumerate(zip(ends, ends[1:])):
            name = file_name(split.name, number, split.num_files)
            files.append(PlannedFile(name, (preset.seed, split_number, number), tuple(classes[begin:end])))
    return files


def images(preset: Preset, file: PlannedFile) -> Iterator[LabelledImage]:
    """Yield the images of one file; every call yields the same images."""
    rng = np.random.default_rng(file.seeds)
    for number, class_number in enumerate(file.classes):
        height, width = preset.sizes[rng.integers(len(preset.sizes))]
        yield LabelledImage(
            pixels=draw(rng, class_number, height, width, preset.noise),
            label=class_label(class_number, preset.num_classes),
            synset=f"n9{class_number:07d}",
            text=class_name(class_number),
            filename=f"{file.name[: -len('-of-00000')]}_{number}.JPEG",
        )


def class_label(number: int, num_classes: int) -> int:
    """Return the label of a class: 1 for the first class, 1000 for the last, and evenly spaced labels in between."""
    return FIRST_LABEL + number * (LAST_LABEL - FIRST_LABEL) // (num_classes - 1)


def _is_whole(place: Path, file: PlannedFile) -> bool:
    path = place / file.name
    return path.is_file() and count_records(path) == (len(file.classes), True)


def _claim(place: Path, preset: Preset) -> None:
    """Mark a folder as ours, and remove what an interrupted call left behind; raise an error if it has other files."""
    mark = place / MARK
    # A centre's files may have the same names as ours, so a folder without the mark must not contain any of them.
    ours = {MARK, *(file.name for file in plan(preset))} if mark.exists() else set()
    if ours and mark.read_text(encoding="utf-8").strip() != preset.name:
        raise CourseKitError(
            f"{place} holds the data of another preset: choose another folder for {preset.name!r}.", "data.other-preset"
        )
    present = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    parts = [name for name in present if name.endswith(PART_SUFFIX) and name.split(".")[0] in ours]
    others = [name for name in present if name not in {*ours, *parts}]
    if others:
        raise CourseKitError(
            f"{place} holds other things ({first_few(others)}): choose an empty or new folder.", "data.folder-not-empty"
        )
    for name in parts:
        (place / name).unlink()
    write_text(mark, f"{preset.name}\n")


def find_data(folder: str = "") -> Path:
    """Return a folder with training and validation files.

    Args:
        folder: a folder with ImageNet's TFRecord files, or "" for "tiny" synthetic data in the user's cache,
            which is `$COURSEKIT_DATA` if that is set, otherwise `coursekit/` in `$XDG_CACHE_HOME` or `~/.cache`.
            The first call makes the data; other processes that need it wait until it is complete.

    Raises:
        CourseKitError: the folder lacks files, or the data cannot be made.
    """
    if folder:
        for split in SPLITS:
            list_files(folder, split)
        return Path(folder)
    wanted = PRESETS["tiny"]
    cache = os.environ.get(CACHE_VARIABLE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "coursekit")
    place = Path(cache).expanduser().absolute() / f"imagenet-{wanted.name}"
    if not is_made(place, wanted):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with locked(place.with_name(f".{place.name}.lock")):
                if not is_made(place, wanted):
                    print(f"making {wanted.num_images} images in {place}, once …", flush=True)
                    _make_in_other_process(place, wanted)
        except OSError as error:
            raise CourseKitError(
                f"{place} cannot be made ({error.strerror or error}): set ${CACHE_VARIABLE} to one of your folders.",
                "data.no-cache",
            ) from error
    return place


def _make_in_other_process(place: Path, preset: Preset) -> None:
    """Make the data in a process that sees no GPU; if the notebook itself used a GPU, its ranks could not."""
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", MAKE, str(place), preset.name]
    done = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        last_line = (done.stderr.strip().splitlines() or [f"{place} could not be made."])[-1]
        raise CourseKitError(last_line.removeprefix(f"{CourseKitError.__module__}.{CourseKitError.__name__}: "))
