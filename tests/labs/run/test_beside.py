"""What is copied for a run from the folder of a student's notebook."""

import os
import socket

from coursekit.labs.run import beside
from coursekit.labs.run.beside import copy_beside


def test_all_that_can_be_copied_is_there_and_the_rest_is_named(tmp_path, monkeypatch):
    """Dangling links (an editor's lock, a former data set), sockets and what is too big are named, by-products not.

    A link to a folder leads there from the copy too, so that a loop has no end to reach and a data set stays one.
    """
    monkeypatch.setattr(beside, "MAX_BYTES", 10_000)
    data, mine, copy = (tmp_path / name for name in ("data", "mine", "copy"))
    for folder in (data, mine / "helpers" / "jobs", mine / "training", mine / "jobs", mine / ".ipynb_checkpoints"):
        folder.mkdir(parents=True)
    texts = ["01-sgd.ipynb", "helpers/one.py", "helpers/jobs/two.py", ".env", "jobs/result.json"]
    for name in (*texts, ".ipynb_checkpoints/01-sgd.ipynb", ".released.ipynb"):
        (mine / name).write_text(name)
    for place in (data / "big", mine / "training" / "epoch-001.data"):
        place.touch()
        os.truncate(place, 10_001)
    links = {
        ".#01-sgd.ipynb": "ada@login1.1234:1764000000",
        "helpers/gone": tmp_path / "nowhere",
        "loop": "loop",
        "data": data,
        "up": "..",
        "file": "helpers/one.py",
        "big": data / "big",
    }
    for name, target in links.items():
        (mine / name).symlink_to(target)
    monkeypatch.chdir(mine)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        left_out = copy_beside(mine / "01-sgd.ipynb", copy)

    assert left_out == (
        ".#01-sgd.ipynb (a link that leads nowhere)",
        "helpers/gone (a link that leads nowhere)",
        "loop (a link that leads nowhere)",
        "socket (no file)",
        "training (0.0 GB)",
    )
    found = {path.relative_to(copy).as_posix(): path for path in copy.rglob("*")}
    read = {name: path.read_text() for name, path in found.items() if path.is_file() and not path.is_symlink()}
    assert read == {".env": ".env", "file": "helpers/one.py", **{name: name for name in texts[1:3]}}
    linked = {name: path.readlink() for name, path in found.items() if path.is_symlink()}
    assert linked == {"data": data, "up": tmp_path, "big": data / "big"}
