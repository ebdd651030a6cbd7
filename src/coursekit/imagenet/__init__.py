"""Data in ImageNet's form: TFRecord files of JPEG images with labels from 1 to 1000, read, made and checked."""

from coursekit.imagenet.example import parse_record
from coursekit.imagenet.files import count_images, list_files
from coursekit.imagenet.find import find_data
from coursekit.imagenet.make import make_data
from coursekit.imagenet.reading import Skipped, forget_skipped, read_records, skipped
from coursekit.imagenet.writing import write_file

__all__ = [
    "Skipped",
    "count_images",
    "find_data",
    "forget_skipped",
    "list_files",
    "make_data",
    "parse_record",
    "read_records",
    "skipped",
    "write_file",
]
