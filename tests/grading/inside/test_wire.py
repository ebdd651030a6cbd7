"""Plain data as JSON: what crosses, what does not, and what hostile bytes can do."""

import base64
import json
import math
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from coursekit.checks.on_ranks import RemoteAnswer
from coursekit.drivers.calls import with_horovod
from coursekit.drivers.probe_model import Record
from coursekit.grading.inside import wire


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**70),
        10**400 - 1,
        1 - 10**400,
        5e-324,
        0.1 + 0.2,
        2.5,
        "text with \x00 and ü",
        b"\x00\xff",
        [1, [2, (3, "x")], {}],
        {1: "a", (2, 3): None, "k": [True]},
    ],
    ids=lambda value: repr(value)[:40],
)
def test_plain_data_comes_back_as_it_was(value):
    """Also what JSON has no word for: tuples, bytes, large numbers, keys that are not text."""
    found = wire.loads(wire.dumps(value))

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0])
def test_numbers_beyond_json_come_back(value):
    """Infinity and not-a-number are what trainings that run away return."""
    assert str(wire.loads(wire.dumps(value))) == str(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.array([], dtype=np.float32),
        np.array(3, dtype=np.int8),
        np.array([[True], [False]]),
        np.array([1 + 2j]),
        np.array(["a", "long"]),
        np.arange(12).reshape(3, 4)[:, ::2],
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_back_with_type_and_shape(array):
    """Every byte of an array crosses, whatever its layout in memory."""
    found = wire.loads(wire.dumps(array))

    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)
    found[...] = found  # a check may write into what it got


def test_kinds_of_plain_data_cross_as_such():
    """NumPy's scalars and its bytes with their zeros stay; tuples with names and ordered dictionaries become plain."""
    point = namedtuple("Point", "x y")(1, 2)  # noqa: PYI024  # as a student writes it
    values = [np.float32(0.1), np.bytes_(b"a\0"), np.str_("a\0"), point, OrderedDict(a=1)]
    found = wire.loads(wire.dumps([*values, Record(np.ones(3), np.arange(2), training=True)]))
    record = found.pop()

    assert (type(found[0]), found) == (np.float32, [np.float32(0.1), b"a\0", "a\0", (1, 2), {"a": 1}])
    assert (record.bias.tolist(), record.samples.tolist(), record.training) == ([1, 1, 1], [0, 1], True)


def test_drivers_and_answers_cross_only_inwards():
    """In the sandbox a driver is found and an answer looked up; the judge takes neither from there."""
    data = wire.dumps([with_horovod, (RemoteAnswer("shard", None),)])

    assert wire.loads(data, {"shard": len}) == [with_horovod, (len,)]
    with pytest.raises(wire.NotPlainError, match="a function is not plain data"):
        wire.loads(data)


class Evil:
    """An object that is equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "value",
    [
        Evil(),
        [object()],
        {"f": print},
        np.array([Evil()]),
        iter([1]),
        {1, 2},
        10**400,
        [-(10**500)],
        10**5000,
        np.ma.masked_array([1.0, 2.0], [False, True]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_objects_do_not_cross(value):
    """An object that would answer for itself is refused, with the name of its type."""
    with pytest.raises(wire.NotPlainError, match="not plain data"):
        wire.dumps(value)


def test_no_entry_of_a_dictionary_is_lost():
    """Keys of a student's own kind may be different there and equal as plain data."""

    class Key(str):
        __slots__ = ()
        __hash__ = object.__hash__
        __eq__ = object.__eq__

    data = wire.dumps({Key("a"): 1, Key("a"): 2})
    with pytest.raises(wire.NotPlainError, match="keys"):
        wire.loads(data)


def test_endless_nesting_is_refused():
    """A list that holds itself ends in an error and not in a crash."""
    value = []
    value.append(value)

    with pytest.raises(wire.NotPlainError, match="nested"):
        wire.dumps(value)


def encoded(tag, content):
    """Return a message with one tag, as anybody could write it."""
    return json.dumps({wire.TAG: tag, "v": content}).encode()


ZEROS = base64.b64encode(bytes(8)).decode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        pytest.param(b"[" + b"[]," * 1_000_000 + b"[]]", id="a million lists"),
        pytest.param(b'"' + b"x" * wire.MAX_NUM_BYTES + b'"', id="text beyond the limit"),
        pytest.param(b"1" * 100_000, id="a number of a hundred thousand digits"),
        b'{"v": 1}',
        b'{"!": "pickle", "v": []}',
        encoded("array", ["|O", [1], ZEROS]),
        encoded("array", ["<f8", [2], ZEROS]),
        encoded("array", ["<f8", [-1, 1 << 40], ZEROS]),
        encoded("array", ["no type", [1], ZEROS]),
        encoded("array", [[["a", "|O"]], [1], ZEROS]),
        encoded("array", ["<f8", [1], "no base64 !"]),
        encoded("dict", [[[1], 2]]),
        encoded("dict", [[1, 2, 3]]),
        encoded("dict", [[number * (2**61 - 1), 0] for number in range(1001)]),  # all of one hash
        encoded("record", [1]),
        encoded("record", [[0.5], [1], True]),
        json.dumps([["x" * 10_000], *([1] for _ in range(10_000))]).encode(),  # 400 MB as an array
        encoded("int", "x"),
        encoded("int", "9" * 401),
        encoded("int", "-" * 500 + "1"),
        encoded("driver", ["os", "system"]),
        encoded("answer", "shard"),
    ],
    ids=lambda data: repr(data[:40]),
)
def test_hostile_bytes_are_refused(data):
    """Whatever arrives, reading it runs nothing and ends in one kind of error."""
    with pytest.raises(wire.NotPlainError):
        wire.loads(data)


def test_large_plain_data_is_read():
    """The limits on odd keys and on long texts beside many values are none on what answers return."""
    value = {"names": {f"file-{number}": number for number in range(5000)}, "text": "x" * 1_000_000, "many": [0] * 9999}
    assert wire.loads(wire.dumps(value)) == value


@pytest.mark.parametrize(
    "name", [("os", "system"), ("coursekit.drivers.calls", "call.__globals__"), ("builtins", "eval")]
)
def test_only_drivers_are_found_by_name(name):
    """A name leads to a function of `coursekit.drivers` or nowhere, also in the sandbox."""
    with pytest.raises(wire.NotPlainError, match="is not a driver"):
        wire.loads(encoded("driver", name), {})


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
