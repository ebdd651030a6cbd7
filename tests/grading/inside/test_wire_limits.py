"""What hostile processes may send costs the reader little, whatever it is."""

import json

import pytest

from coursekit.grading.inside import wire


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[" + b"[]," * 1_000_000 + b"[]]", id="a million lists in three megabytes"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="lists nested a hundred thousand deep"),
        pytest.param(b'"' + b"x" * wire.MAX_NUM_BYTES + b'"', id="text beyond the limit"),
        pytest.param(b"1" * 100_000, id="a number of a hundred thousand digits"),
        pytest.param(json.dumps({"!": "driver", "v": ["coursekit.drivers.calls", "call"]}).encode(), id="a driver"),
        pytest.param(json.dumps({"!": "answer", "v": "loss"}).encode(), id="an answer"),
        pytest.param(json.dumps({"!": "array", "v": ["|O", [1], "AAAAAAAAAAA="]}).encode(), id="an array of objects"),
        pytest.param(json.dumps({"!": "dict", "v": [[[], 1]]}).encode(), id="a key that cannot be one"),
    ],
)
def test_messages_beyond_all_bounds_are_refused(data):
    """They are not plain data: no memory is filled, no code found, and the reader's process lives."""
    with pytest.raises(wire.NotPlainError):
        wire.loads(data)


def test_half_a_surrogate_pair_is_replaced():
    """Such text could be written to no file and no database, so that recording a grade would fail."""
    assert wire.loads(rb'["\ud800 passed", "\ud83d\ude00"]') == [
        "\N{REPLACEMENT CHARACTER} passed",
        "\N{GRINNING FACE}",
    ]


def test_what_is_checked_is_returned_whole():
    """Within its bounds a message stays as it is."""
    assert wire.checked(b"[1, 2]", 6) == b"[1, 2]"
    with pytest.raises(wire.NotPlainError, match="0 MiB"):
        wire.checked(b"[1, 2]", 5)
