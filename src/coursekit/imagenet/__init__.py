"""Read, make and check data in ImageNet's format: TFRecord files of JPEG images with labels from 1 to 1000."""

from coursekit.imagenet.files import count_images, list_files
from coursekit.imagenet.make import find_data, make_data
from coursekit.imagenet.records import LabelledImage, parse_record, read_records, write_images
from coursekit.imagenet.training_folder import begin_training, end_training

__all__ = [
    "LabelledImage",
    "begin_training",
    "count_images",
    "end_training",
    "find_data",
    "list_files",
    "make_data",
    "parse_record",
    "read_records",
    "write_images",
]
