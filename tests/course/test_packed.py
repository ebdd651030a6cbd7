"""A zip of somebody else's: whatever is odd about it is one sentence, and nothing of it is written anywhere."""

import io
import json
import struct
import warnings
import zipfile

import pytest

from coursekit.course.hand_in.names import NotImportedError
from coursekit.course.hand_in.unpack import HandInManifest, read_zip

from .conftest import MONDAY, NAME

NOTEBOOK = f"{NAME}.ipynb"
GOOD = {NOTEBOOK: b"{}", f"jobs/{NAME}-1/result.json": b"[]"}


def manifest(**changes):
    """Return the bytes of a manifest."""
    return json.dumps({**json.loads(HandInManifest(NAME, "ada", MONDAY).to_bytes()), **changes}).encode()


def zipped(entries, method=zipfile.ZIP_DEFLATED):
    """Return a zip of these pairs of name and content."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as made:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, data in entries:
            made.writestr(name, data)
    return file.getvalue()


def hand_in(*more, **changes):
    """Return a packed hand-in with more entries."""
    return zipped([("hand-in.json", manifest(**changes)), *GOOD.items(), *more])


def test_a_good_one():
    """The manifest and the contents come back; empty folders of another packer do no harm."""
    found, contents = read_zip(hand_in(("jobs/", b"")))
    assert found == HandInManifest(NAME, "ada", MONDAY)
    assert contents == {"hand-in.json": manifest(), **GOOD}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "zip.damaged"),
        (b"PK\x03\x04 and nothing else", "zip.damaged"),
        (hand_in()[:-30], "zip.damaged"),
        (hand_in().replace(b"PK\x01\x02", b"PK\x01\xff"), "zip.damaged"),
        (zipped(GOOD.items()), "zip.no-manifest"),
        (zipped([("hand-in.json", b"[" * 100_000)]), "zip.no-manifest"),
        (zipped([("hand-in.json", b"[]")]), "zip.no-manifest"),
        (hand_in(schema=2), "zip.no-manifest"),
        (hand_in(user="../bob"), "zip.no-manifest"),
        (hand_in(lab=f"../{NAME}"), "zip.no-manifest"),
        (hand_in(time="2026-13-16T12:00:00+00:00"), "zip.no-manifest"),
        (hand_in(time=7), "zip.no-manifest"),
        (hand_in(("more.py", b"")), "zip.odd-file"),
        (hand_in(("/etc/passwd", b"")), "zip.odd-file"),
        (hand_in(("jobs/../../../x", b"")), "zip.odd-file"),
        (hand_in(("jobs/../result.json", b"")), "zip.odd-file"),
        (hand_in(*((f"jobs/{i}/result.json", b"") for i in range(100))), "zip.too-many-files"),
        (zipped(GOOD.items(), zipfile.ZIP_LZMA), "zip.compression"),
    ],
)
def test_what_is_refused(data, code):
    """Every kind of hostile or broken zip ends in its sentence, with what to do."""
    with pytest.raises(NotImportedError) as caught:
        read_zip(data)
    assert caught.value.code == code


def test_a_bomb_is_not_unpacked():
    """200 MB of zeros in less than 0.3 MB, and also when the zip says that they are few."""
    bomb = zipped([(NOTEBOOK, bytes(200_000_000))])
    assert len(bomb) < 300_000
    with pytest.raises(NotImportedError, match=r"100 MB.*\[zip\.too-big\]"):
        read_zip(bomb)
    lying = bomb.replace(struct.pack("<I", 200_000_000), struct.pack("<I", 2))
    with pytest.raises(NotImportedError, match=r"\[zip\.damaged\]"):
        read_zip(lying)
