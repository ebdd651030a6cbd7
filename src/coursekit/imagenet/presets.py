"""The sizes in which made data comes, and its classes."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.errors import CourseKitError

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
