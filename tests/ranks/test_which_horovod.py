"""Which Horovod the ranks run."""

from __future__ import annotations

import json
import sys
from importlib import metadata

import pytest

from coursekit import STAMP
from coursekit.ranks import horovod_build


@pytest.mark.parametrize(
    ("stamp", "words"),
    [
        ({"horovod": "fast"}, "changed for ranks that share cores"),
        ({"horovod": "plain"}, "as released"),
        (None, "as released"),
    ],
)
def test_the_stamp_of_make_env_says_which(stamp, words, tmp_path, monkeypatch):
    """Where make env did not make the environment, a site or conda did, with Horovod as it was released."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if stamp:
        (tmp_path / STAMP).write_text(json.dumps(stamp))

    assert horovod_build() == f"Horovod {metadata.version('horovod')}, {words}"
