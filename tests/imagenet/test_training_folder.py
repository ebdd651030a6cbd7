"""Where a training begins: beside one that has ended, and on top of one that was interrupted."""

import json

import numpy as np
import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import begin_training, end_training


def begin(folder, model="SmallCNN"):
    """Begin a training as the rank that writes."""
    return begin_training(folder, is_writer=True, model=model, image_size=32)


def test_an_ended_training_is_moved_aside(tmp_path):
    """Its files are kept under another name, until the next one has ended, too."""
    folder = tmp_path / "training"
    for number in range(3):
        begin(folder)
        (folder / f"checkpoint-{number}").touch()
        end_training(folder, {"loss": np.float32(number)})

    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint-2", "network.json", "result.json"]
    assert json.loads((tmp_path / "training-before" / "result.json").read_text()) == {"loss": 1.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["training", "training-before"]


def test_an_interrupted_training_stays(tmp_path):
    """Its checkpoints are there when it begins again, and another network is refused in one sentence."""
    folder = begin(str(tmp_path / "training"))
    (folder / "checkpoint").touch()
    begin(folder)

    assert (folder / "checkpoint").exists()
    with pytest.raises(CourseKitError, match=r"SmallCNN.*VGG16.*training.other-network"):
        begin(folder, "VGG16")


def test_a_rank_that_does_not_write_leaves_the_folder_alone(tmp_path):
    """It is not even made."""
    assert begin_training(tmp_path / "training", is_writer=False, model="VGG16") == tmp_path / "training"
    assert list(tmp_path.iterdir()) == []
