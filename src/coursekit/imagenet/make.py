"""Make data in ImageNet's form: seeded synthetic images in TFRecord files, with a manifest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.imagenet.files import (
    FORMAT_VERSION,
    MANIFEST,
    DataManifest,
    FileFacts,
    file_name,
    read_manifest,
    stated_records,
)
from coursekit.imagenet.patterns import class_name, draw
from coursekit.imagenet.records import FIRST_LABEL, LAST_LABEL, PART_SUFFIX, LabelledImage, write_images

Progress = Callable[[str, int, int], None]
NUM_NAMED = 3
# As ImageNet's: most images are 500 wide or high, in the formats of cameras.
CAMERA_SIZES = ((375, 500), (333, 500), (500, 375), (375, 500), (400, 500), (500, 333), (375, 500), (281, 500))


@dataclass(frozen=True)
class Split:
    """One split of a preset: its number of files, and of images in all of them."""

    name: str
    num_files: int
    num_images: int


@dataclass(frozen=True)
class Preset:
    """How much data is made, and how its images look.

    Attributes:
        splits: training first.
        num_classes: at most 50; their labels are spread over 1 to 1000, both included.
        sizes: the (height, width) that images have, in pixels, each as likely as it occurs here.
        noise: the largest change of a pixel by noise, of 255.
        quality: of the JPEGs, 1 to 100.
        num_bytes: about how much it takes on the disk.
        seed: other images with another one.
    """

    name: str
    splits: tuple[Split, Split]
    num_classes: int
    sizes: tuple[tuple[int, int], ...]
    noise: int
    quality: int
    num_bytes: int
    seed: int = 2019

    @property
    def num_images(self) -> int:
        """Return the number of images of both splits."""
        return sum(split.num_images for split in self.splits)


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="tiny",
            splits=(Split("train", 16, 1024), Split("validation", 4, 200)),
            num_classes=8,
            sizes=((96, 128), (128, 96), (112, 112), (96, 120), (120, 104), (128, 128)),
            noise=12,
            quality=85,
            num_bytes=6_000_000,
        ),
        Preset(
            name="small",
            splits=(Split("train", 64, 10_000), Split("validation", 8, 1000)),
            num_classes=50,
            sizes=((160, 160),),
            noise=12,
            quality=85,
            num_bytes=80_000_000,
        ),
        Preset(
            name="bench",
            splits=(Split("train", 128, 4096), Split("validation", 16, 512)),
            num_classes=50,
            sizes=CAMERA_SIZES,
            noise=28,
            quality=95,
            num_bytes=500_000_000,
        ),
    )
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises:
        CourseKitError: no preset has that name.
    """
    if name not in PRESETS:
        raise CourseKitError(f"There is no preset {name!r}: choose {', '.join(PRESETS)}.")
    return PRESETS[name]


class PlannedFile(NamedTuple):
    """One file to be made: its name, the numbers its images are drawn from, and the class of each image."""

    name: str
    seeds: tuple[int, int, int]
    classes: tuple[int, ...]


def make_data(folder: str | os.PathLike[str], preset: str, progress: Progress | None = None) -> Path:
    """Make the data of a preset in a folder; files that are there already, whole, are not made again.

    Every file appears whole or not at all, and the manifest names it as soon as it is there,
    so that an interrupted call goes on where it ended.

    Args:
        folder: made when it is not there; else it must be empty, or hold this preset's files.
        preset: "tiny", "small" or "bench".
        progress: called for each file when it is there, with its name, the images done and the images in all.

    Returns:
        The folder.

    Raises:
        CourseKitError: when the folder holds something else, or cannot be written, as on a full disk.
    """
    place, wanted = Path(folder), find_preset(preset)
    files = plan(wanted)
    try:
        place.mkdir(parents=True, exist_ok=True)
        stated = _start_manifest(place, wanted, files)
        todo = [file for file in files if stated_records(place / file.name) is None]
        # Before the first file, so that whatever is found after a kill is known to be ours.
        stated.write(place)
        num_done = wanted.num_images - sum(len(file.classes) for file in todo)
        for file in todo:
            path = write_images(place / file.name, images(wanted, file), wanted.quality)
            stated.files[file.name] = FileFacts(len(file.classes), path.stat().st_size)
            stated.write(place)
            num_done += len(file.classes)
            if progress:
                progress(file.name, num_done, wanted.num_images)
    except OSError as error:
        raise CourseKitError(f"{place} cannot be written: {error.strerror or error}.") from error
    return place


def plan(preset: Preset) -> list[PlannedFile]:
    """Return the files of a preset; classes are mixed, and the numbers of images per file differ as in ImageNet's."""
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
    """Yield the images of one file, always the same."""
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
    """Return the label of a class: 1 for the first, 1000 for the last, the others evenly between."""
    return FIRST_LABEL + number * (LAST_LABEL - FIRST_LABEL) // (num_classes - 1)


def _start_manifest(place: Path, preset: Preset, files: list[PlannedFile]) -> DataManifest:
    """Return the manifest to continue with; refuse a folder with other things, remove what an interrupted call left."""
    stated = read_manifest(place)
    if stated and (stated.preset, stated.seed, stated.format_version) != (
        preset.name,
        preset.seed,
        FORMAT_VERSION,
    ):
        raise CourseKitError(
            f"{place} holds data of the preset {stated.preset!r}, format {stated.format_version}: "
            f"name another folder for {preset.name!r}, format {FORMAT_VERSION}."
        )
    planned = {file.name for file in files}
    present = sorted(path.name for path in place.iterdir())
    parts = [name for name in present if name.endswith(PART_SUFFIX) and name.split(".")[0] in {*planned, "manifest"}]
    # A centre's files may have the names of ours.
    ours = {MANIFEST, *planned, *parts} if stated else set(parts)
    others = [name for name in present if name not in ours and not name.startswith(".")]
    if others:
        named = ", ".join(others[:NUM_NAMED])
        raise CourseKitError(f"{place} holds other things ({named}): name an empty or a new folder.")
    for name in parts:
        (place / name).unlink()
    return stated or DataManifest(preset.name, preset.seed)
