"""Listing and counting the files of a data folder."""

import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import count_images, list_files
from coursekit.imagenet.files import file_name


def touch(folder, split, numbers, total):
    """Make empty files of a split and return their paths."""
    folder.mkdir(exist_ok=True)
    paths = [folder / file_name(split, number, total) for number in numbers]
    for path in paths:
        path.touch()
    return [str(path) for path in paths]


def test_files_are_listed_in_order_and_nothing_else(tmp_path):
    """Both splits lie in one folder, beside other things."""
    train = touch(tmp_path, "train", range(12), 12)
    validation = touch(tmp_path, "validation", [1, 0], 2)
    for other in ("train-labels.txt", "train-00000-of-00012.part"):
        (tmp_path / other).touch()
    assert list_files(tmp_path, "train") == train
    assert list_files(str(tmp_path), "validation") == sorted(validation)


def test_splits_may_have_folders_of_their_own(tmp_path):
    """Centres keep them in `train/` and `validation/`."""
    train = touch(tmp_path / "train", "train", range(3), 3)
    validation = touch(tmp_path / "validation", "validation", range(2), 2)
    assert (list_files(tmp_path, "train"), list_files(tmp_path, "validation")) == (train, validation)


def test_an_incomplete_set_names_what_is_missing(tmp_path):
    """Training on a part of the data by accident would go unnoticed."""
    touch(tmp_path, "train", [0, 1, 3], 4)
    with pytest.raises(CourseKitError, match=r" 1 of 4 .*train-00002-of-00004.*data.files-missing"):
        list_files(tmp_path, "train")
    touch(tmp_path, "validation", [0], 9)
    with pytest.raises(CourseKitError, match=r" 8 of 9 .*-00001-of-00009, .*-00005-of-00009 and 3 more"):
        list_files(tmp_path, "validation")


def test_two_sets_in_one_folder_are_refused(tmp_path):
    """Which of them is meant cannot be told."""
    touch(tmp_path, "train", range(2), 2)
    touch(tmp_path, "train", range(4), 4)
    with pytest.raises(CourseKitError, match=r" 2 and 4.*data.mixed-sets"):
        list_files(tmp_path, "train")


@pytest.mark.parametrize(
    ("folder", "split", "code"),
    [("", "train", "data.no-files"), ("none", "train", "data.no-folder"), ("", "test", "split.unknown")],
)
def test_what_is_not_there_is_one_sentence(tmp_path, folder, split, code):
    """An empty folder, a missing one and an unknown split say what to do."""
    with pytest.raises(CourseKitError, match=code):
        list_files(tmp_path / folder, split)


def test_images_are_counted_from_the_headers(plain_file, records, flip):
    """A file in which they lead no further is named."""
    assert count_images([plain_file, plain_file]) == 2 * len(records)
    content = plain_file.read_bytes()
    flip(plain_file, 116)  # in the header of record 1
    found = ((plain_file.read_bytes(), " 2 .*records.cut"), (content[:50], "records.none"), (b"", "records.empty"))
    for damaged, words in found:
        plain_file.write_bytes(damaged)
        with pytest.raises(CourseKitError, match=f"{plain_file}.*{words}"):
            count_images([plain_file])
    with pytest.raises(CourseKitError, match=r"No such file.*data.unreadable"):
        count_images([plain_file.with_name("none")])
