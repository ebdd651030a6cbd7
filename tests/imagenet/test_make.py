"""Data that is made or found: its bytes, what becomes of what was there, and who waits for whom."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import find_data, list_files, make_data, parse_record, read_records
from coursekit.imagenet.make import PRESETS, class_label, images, plan
from coursekit.imagenet.patterns import NUM_CLASSES, class_name

DIGESTS = {"tiny": "ca40554a2b6f4e2a", "small": "0c86996500b5b6b0", "bench": "c7feab266dd87220"}
FILE_DIGEST = "32ba9b7ae0020059"
TINY_LABELS = [1, 143, 286, 429, 571, 714, 857, 1000]
ASK = "from coursekit.imagenet import find_data; print(find_data())"
NAME = "imagenet-tiny"


def parsed(files):
    """Return a data set of the encoded JPEG and the label of every record in files, traced once for all of them."""
    import tensorflow as tf

    names = tf.data.Dataset.from_tensor_slices([str(file) for file in files])
    return names.flat_map(read_records).map(parse_record)


def test_tiny_is_what_its_preset_says(made):
    """1024 and 200 images, every class as often as the others, in less than 6 MB."""
    labels = {}
    for split, num_files in (("train", 16), ("validation", 4)):
        files = list_files(made, split)
        assert len(files) == num_files
        labels[split] = Counter(int(label) for _, label in parsed(files).as_numpy_iterator())
    assert labels["train"] == dict.fromkeys(TINY_LABELS, 128)
    assert labels["validation"] == dict.fromkeys(TINY_LABELS, 25)
    assert sum(path.stat().st_size for path in made.iterdir()) < PRESETS["tiny"].num_bytes == 6_000_000


def test_the_same_pixels_on_every_machine():
    """The images of the first file of each preset, as they were drawn when this was written."""
    digests = {}
    for preset in PRESETS.values():
        digest = hashlib.sha256()
        for _, image in zip(range(6), images(preset, plan(preset)[0])):
            digest.update(image.pixels.tobytes() + f"{image.pixels.shape} {image[1:]}".encode())
        digests[preset.name] = digest.hexdigest()[:16]
    assert digests == DIGESTS


def test_the_same_bytes_on_every_machine(made):
    """The JPEGs of TensorFlow and the records around them, as they were when this was written."""
    assert hashlib.sha256((made / "validation-00003-of-00004").read_bytes()).hexdigest()[:16] == FILE_DIGEST


@pytest.mark.parametrize("name", PRESETS)
def test_files_and_shards_are_unequal(name):
    """As in ImageNet, files hold different numbers of images, together as many as the preset says."""
    preset = PRESETS[name]
    for split in preset.splits:
        sizes = [len(file.classes) for file in plan(preset) if file.name.startswith(split.name)]
        assert (len(sizes), sum(sizes)) == (split.num_files, split.num_images)
        assert 1.3 < max(sizes) / min(sizes) < 1.8
    if name == "tiny":
        # The lab on distributed validation lives on it.
        assert [sum(sizes[rank::2]) for rank in range(2)] == [80, 120]


def test_classes_have_labels_over_the_whole_range_and_names_of_their_own():
    """The first label is 1 and the last 1000, for any number of classes; no two classes look alike."""
    for num_classes in (2, 8, 50):
        labels = [class_label(number, num_classes) for number in range(num_classes)]
        assert (labels[0], labels[-1], len(set(labels))) == (1, 1000, num_classes)
    assert [class_label(number, 8) for number in range(8)] == TINY_LABELS
    assert len({class_name(number) for number in range(NUM_CLASSES)}) == NUM_CLASSES == 50


# Keras 2.15 calls randint(1, 1e9).
@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")
def test_a_small_network_learns_the_classes(made):
    """Three convolutions reach far more than chance on the validation files within seconds."""
    import tensorflow as tf

    def images_and_labels(split):
        """Return pixels, shape (num_images, 32, 32, 3), and class numbers, shape (num_images,)."""

        def small(encoded, label):
            return tf.image.resize(tf.io.decode_jpeg(encoded, channels=3), (32, 32)) / 255, label

        images, labels = zip(*parsed(list_files(made, split)).map(small).as_numpy_iterator())
        return np.array(images), np.array([TINY_LABELS.index(label) for label in labels])

    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    network = tf.keras.Sequential(
        [layers.Input((32, 32, 3))]
        + [layers.Conv2D(width, 3, strides=2, activation="relu") for width in (16, 32, 64)]
        + [layers.GlobalAveragePooling2D(), layers.Dense(8)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(tf.keras.optimizers.Adam(0.003), loss, metrics=["accuracy"])
    network.fit(*images_and_labels("train"), batch_size=32, epochs=8, verbose=0)
    _, accuracy = network.evaluate(*images_and_labels("validation"), verbose=0)
    assert accuracy > 0.6, f"{accuracy:.2f} where chance is 0.125"


def test_only_what_is_missing_or_cut_is_made_again(made, tiny):
    """Files that are whole stay untouched, the others come back as they were, and leftover parts go."""
    for path in tiny.iterdir():
        path.chmod(0o444)
    (tiny / "train-00003-of-00016").unlink()
    (tiny / "train-00005-of-00016").chmod(0o644)
    (tiny / "train-00005-of-00016").write_bytes(b"the beginning of")
    (tiny / "train-00007-of-00016.a1b2c3d4.part").write_bytes(b"half of")
    before = {path.name: path.stat().st_mtime_ns for path in tiny.iterdir()}
    said = []
    time.sleep(0.01)
    make_data(tiny, "tiny", lambda *progress: said.append(progress))
    assert (len(said), said[-1]) == (20, ("validation-00003-of-00004", 1224, 1224))
    after = {path.name: path for path in tiny.iterdir()}
    assert {name: path.read_bytes() for name, path in after.items()} == {
        path.name: path.read_bytes() for path in made.iterdir()
    }
    changed = {name for name, path in after.items() if before.get(name) != path.stat().st_mtime_ns}
    assert changed == {"train-00003-of-00016", "train-00005-of-00016", "synthetic.txt"}


@pytest.mark.parametrize("name", ["thesis.tex", "train-00000-of-00016", "train-00000-of-01024"])
def test_a_folder_with_other_things_is_refused(tmp_path, name):
    """Not even files that are called like ours are overwritten when nothing says that they are ours."""
    (tmp_path / name).write_text("precious")
    with pytest.raises(CourseKitError, match=rf"{name}.*data.folder-not-empty"):
        make_data(tmp_path, "tiny")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "precious")]


def test_a_disk_that_fills_up_meanwhile_is_one_sentence(tmp_path):
    """A file that can grow no further ends the making, and no part of it is left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(CourseKitError, match=r"File too large.*data.not-writable"):
            make_data(tmp_path / "data", "tiny")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["synthetic.txt"]


def contents(folder):
    """Return the content of every file by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_processes_that_ask_at_once_get_the_same_whole_data(made, tmp_path):
    """Two ask while nothing is there: one line is said, the data is as from the command, and no GPU is looked at."""
    environ = {**os.environ, "COURSEKIT_DATA": str(tmp_path)}
    command = [sys.executable, "-c", ASK]
    asking = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate(timeout=900)[0] for process in asking)
    place = tmp_path / NAME
    assert said == sorted([f"{place}\n", f"making 1224 images in {place}, once …\n{place}\n"])
    assert contents(place) == contents(made)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{NAME}.lock", NAME]


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"COURSEKIT_DATA": "{0}/a", "XDG_CACHE_HOME": "{0}/b"}, "a"),
        ({"COURSEKIT_DATA": "", "XDG_CACHE_HOME": "{0}/b"}, "b/coursekit"),
        ({"COURSEKIT_DATA": "", "XDG_CACHE_HOME": "", "HOME": "{0}/c"}, "c/.cache/coursekit"),
    ],
    ids=["own variable", "cache", "home"],
)
def test_the_place_follows_the_environment(made, tmp_path, monkeypatch, environ, place):
    """The kit's own variable goes before the user's cache; data that is there is not made again."""
    monkeypatch.setattr(subprocess, "run", None)
    for name, value in environ.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    (tmp_path / place).mkdir(parents=True)
    shutil.copytree(made, tmp_path / place / NAME)
    assert find_data() == tmp_path / place / NAME


def test_a_folder_that_is_given_must_hold_both_splits(tiny):
    """It is returned as it is, or a sentence says what it lacks."""
    assert find_data(str(tiny)) == Path(tiny)
    for path in tiny.glob("validation-*"):
        path.unlink()
    with pytest.raises(CourseKitError, match=r"validation-00000-of-.*data.no-files"):
        find_data(str(tiny))


def test_a_place_that_cannot_be_written_names_the_variable(tmp_path, monkeypatch):
    """A file stands where the cache would be."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path / "file"))
    with pytest.raises(CourseKitError, match=r"File exists.*COURSEKIT_DATA.*data.no-cache"):
        find_data()


def test_what_hinders_the_making_is_said(tmp_path, monkeypatch):
    """The sentence of the process that makes the data arrives."""
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "thesis.tex").touch()
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path))
    with pytest.raises(CourseKitError, match=r"thesis.tex.*data.folder-not-empty"):
        find_data()
