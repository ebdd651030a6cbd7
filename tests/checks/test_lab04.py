"""What lab 04's checks say of splits and of TF_CONFIG; its bank of answers holds the rest (tests/answers)."""

import json

import pytest

from coursekit.checks import CheckError, lab04_data, lab04_pieces


@pytest.mark.parametrize("num_held_out", [0, 1, 3, 7])
def test_a_split_without_gap_and_overlap_passes(num_held_out):
    """Front and back of the list are right, each in any order."""
    lab04_data.check_split_files(lambda files, num: (files[: 7 - num], files[7 - num :]), [(7, num_held_out)])
    lab04_data.check_split_files(lambda files, num: [files[: 7 - num], files[::-1][:num]], [(7, num_held_out)])


def test_tf_config():
    """The right text passes; another type, a part that is missing, and what is no JSON are named."""

    def text(hosts, index):
        return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

    lab04_pieces.check_tf_config(text, 3)
    wrong = {
        "expected 'worker', got 'chief'": lambda *known: text(*known).replace('"type": "worker"', '"type": "chief"'),
        "the part 'task' of TF_CONFIG: expected": lambda hosts, _: json.dumps({"cluster": {"worker": hosts}}),
        "must return text": lambda *known: json.loads(text(*known)),
        "is not JSON": lambda *known: repr(json.loads(text(*known))),
    }
    for words, tf_config in wrong.items():
        with pytest.raises(CheckError, match=words):
            lab04_pieces.check_tf_config(tf_config, 3)
