"""Make data in ImageNet's form: seeded synthetic images in TFRecord files, with a manifest."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Callable, NamedTuple

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.imagenet import manifest
from coursekit.imagenet.example import FIRST_LABEL, LAST_LABEL, LabelledImage
from coursekit.imagenet.files import file_name
from coursekit.imagenet.manifest import DataManifest, FileFacts
from coursekit.imagenet.patterns import class_name, draw
from coursekit.imagenet.presets import Preset, find_preset
from coursekit.imagenet.writing import PART_SUFFIX, write_images

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

Progress = Callable[[str, int, int], None]
NUM_NAMED = 3


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
        CourseKitError: when the folder holds something else, cannot be written, or the disk has too little space.
    """
    place, wanted = Path(folder), find_preset(preset)
    files = plan(wanted)
    try:
        place.mkdir(parents=True, exist_ok=True)
        stated = _start_manifest(place, wanted, files)
        todo = [file for file in files if not manifest.is_as_stated(place / file.name, stated.files.get(file.name))]
        _refuse_full_disk(place, wanted, sum(len(file.classes) for file in todo))
        # Before the first file, so that whatever is found after a kill is known to be ours.
        stated.write(place)
        num_done = wanted.num_images - sum(len(file.classes) for file in todo)
        for file in todo:
            path = write_images(place / file.name, images(wanted, file), wanted.quality)
            stated.files[file.name] = FileFacts(len(file.classes), path.stat().st_size, manifest.checksum(path))
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
    """Return the manifest to go on with; refuse a folder with other things, remove what an interrupted call left."""
    stated = manifest.read(place)
    if stated and (stated.preset, stated.seed, stated.format_version) != (
        preset.name,
        preset.seed,
        manifest.FORMAT_VERSION,
    ):
        raise CourseKitError(
            f"{place} holds data of the preset {stated.preset!r}, format {stated.format_version}: "
            f"name another folder for {preset.name!r}, format {manifest.FORMAT_VERSION}."
        )
    planned = {file.name for file in files}
    present = sorted(path.name for path in place.iterdir())
    parts = [name for name in present if name.endswith(PART_SUFFIX) and name.split(".")[0] in {*planned, "manifest"}]
    # A centre's files may have the names of ours.
    ours = {manifest.NAME, *planned, *parts} if stated else set(parts)
    others = [name for name in present if name not in ours and not name.startswith(".")]
    if others:
        named = ", ".join(others[:NUM_NAMED])
        raise CourseKitError(f"{place} holds other things ({named}): name an empty or a new folder.")
    for name in parts:
        (place / name).unlink()
    return stated or DataManifest(preset.name, preset.seed)


def _refuse_full_disk(place: Path, preset: Preset, num_images: int) -> None:
    needed = preset.num_bytes * num_images // preset.num_images
    free = shutil.disk_usage(place).free
    if free < needed:
        raise CourseKitError(
            f"{place} has {free / 1e6:.0f} MB of free space, and the preset {preset.name!r} needs "
            f"{needed / 1e6:.0f} MB: free some, or name a folder on another disk."
        )
