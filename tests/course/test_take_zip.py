"""A zip of somebody else's: whatever is odd about it is one sentence, and nothing of it is written anywhere."""

from __future__ import annotations

import io
import json
import re
import stat
import struct
import warnings
import zipfile
from collections import Counter

import pytest

from coursekit.course.hand_in.packed import HandInManifest, NotTakenError, read_zip

from .conftest import MONDAY, NAME

NOTEBOOK = f"{NAME}.ipynb"
GOOD = {NOTEBOOK: b"{}", f"jobs/{NAME}-1/result.json": b"[]"}


def manifest(contents=GOOD, **changes):
    """Return the bytes of a manifest that fits."""
    data = json.loads(HandInManifest(NAME, "ada", MONDAY, tuple(contents)).to_bytes())
    return json.dumps({**data, **changes}).encode()


def zipped(entries, method=zipfile.ZIP_DEFLATED):
    """Return a zip of these pairs of name, or ZipInfo, and content."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as made:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, data in entries:
            made.writestr(name, data)
    return file.getvalue()


def hand_in(*more, contents=GOOD, **changes):
    """Return a packed hand-in with more entries."""
    return zipped([("hand-in.json", manifest(contents, **changes)), *contents.items(), *more])


def entry(name, mode=0, **fields):
    """Return the description of an entry."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def test_a_good_one():
    """The manifest and the contents come back; empty folders of another packer do no harm."""
    found, contents = read_zip(hand_in(("jobs/", b"")))
    assert (found.lab, found.user, found.time) == (NAME, "ada", MONDAY)
    assert contents == {"hand-in.json": manifest(), **GOOD}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 and nothing else", "damaged"),
        (hand_in()[:-30], "damaged"),
        (zipped(GOOD.items()), "hand-in.json"),
        (zipped([("hand-in.json", b"[" * 100_000)]), "valid JSON"),
        (zipped([("hand-in.json", b"[]")]), "schema 1"),
        (hand_in(user="../bob"), "user"),
        (hand_in(lab=f"../{NAME}"), "lab"),
        (hand_in(time="2026-13-16T12:00:00+00:00"), "time"),
        (hand_in(time=7), "time"),
        (hand_in(files=7), "list of files"),
        (hand_in(contents={}, files=[NOTEBOOK]), f"{NOTEBOOK} is missing"),
        (hand_in(("more.py", b"")), "more.py is not in"),
        (hand_in(contents={**GOOD, "more.py": b""}), "more.py is nothing"),
        (hand_in(("/etc/passwd", b"")), "/etc/passwd, which"),
        (hand_in(("jobs/../../../x", b"")), "plain path"),
        (hand_in(("C:\\x", b"")), "plain path"),
        (hand_in(("a//b", b"")), "plain path"),
        (hand_in(("$(touch x)\n", b"")), "plain path"),
        (hand_in((entry("link", stat.S_IFLNK | 0o777), b"/etc/passwd")), "is a link"),
        (hand_in((entry("pipe", stat.S_IFIFO | 0o666), b"")), "special file"),
        (hand_in(("inner.ZIP", zipped([]))), "inner.ZIP"),
        (hand_in((NOTEBOOK, b"{ }")), f"{NOTEBOOK} twice"),
        (hand_in((NOTEBOOK.upper(), b"")), "twice"),
        (hand_in(*((f"many/{i}", b"") for i in range(100))), "100 files"),
        (zipped(GOOD.items(), zipfile.ZIP_LZMA), "compressed"),
    ],
)
def test_what_is_refused(data, said):
    """Every kind of hostile or broken zip ends in its sentence, with what to do."""
    with pytest.raises(NotTakenError) as caught:
        read_zip(data)
    assert said in str(caught.value)
    assert "`coursekit hand-in`" in str(caught.value)


def test_a_bomb_is_not_unpacked():
    """200 MB of zeros in less than 0.3 MB, and also when the zip says that they are few."""
    bomb = zipped([(NOTEBOOK, bytes(200_000_000))])
    assert len(bomb) < 300_000
    with pytest.raises(NotTakenError, match="100 MB"):
        read_zip(bomb)
    lying = bomb.replace(struct.pack("<I", 200_000_000), struct.pack("<I", 2))
    with pytest.raises(NotTakenError, match="damaged"):
        read_zip(lying)


def test_an_encrypted_one():
    """Nobody is asked for a password."""
    data = bytearray(zipped([(NOTEBOOK, b"{}")]))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(NotTakenError, match="encrypted"):
        read_zip(bytes(data))


def test_an_entry_without_a_name():
    """Python's zipfile asks for its last character."""
    data = hand_in(("x", b""))
    nameless = re.sub(rb"(PK\x01\x02.{24})\x01\x00(.{16})x(?=PK\x05\x06)", b"\\1\0\0\\2", data, flags=re.DOTALL)
    place = nameless.rindex(b"PK\x05\x06")
    (size,) = struct.unpack_from("<I", nameless, place + 12)
    nameless = bytearray(nameless)
    struct.pack_into("<I", nameless, place + 12, size - 1)
    with zipfile.ZipFile(io.BytesIO(nameless)) as packed:
        assert "" in packed.namelist()

    with pytest.raises(NotTakenError, match="damaged"):
        read_zip(bytes(nameless))


def test_no_made_up_structure_ends_otherwise():
    """Every field of every header, set to extreme values, with 64-bit records as well: a hand-in, or one sentence."""
    good = hand_in()
    end = good.rindex(b"PK\x05\x06")
    (start,) = struct.unpack_from("<I", good, end + 16)
    far = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 3, 3, end - start, 2**64 - 1)
    large = good[:end] + far + struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1) + good[end:]
    headers = [place for sign in (b"PK\x01\x02", b"PK\x03\x04") for place in find_all(good, sign)]
    places = {place + field for place in headers for field in range(4, 46)} | set(range(end, len(good)))
    made_up = [large] + [
        good[:place] + value + good[place + len(value) :]
        for place in sorted(places)
        for value in (b"\x00", b"\xff", b"\xff" * 4, b"\x00" * 4)
    ]
    outcomes = Counter(map(outcome, made_up))
    assert set(outcomes) == {"refused", len(GOOD) + 1}
    assert min(outcomes.values()) > 100


def outcome(data):
    """Return how many files a zip gave, or that it was refused."""
    try:
        return len(read_zip(data)[1])
    except NotTakenError:
        return "refused"


def find_all(data, sign):
    """Return where the sign stands in the data."""
    return [match.start() for match in re.finditer(re.escape(sign), data)]
