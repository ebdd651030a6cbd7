"""What a verdict depends on, as one digest: the answers, the tests, the kit's own code, the packages, the sandbox."""

from __future__ import annotations

import functools
import hashlib
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from coursekit.paths import PACKAGE

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.grading.submission.work import Work

PARTS = ("checks", "drivers", "grading", "imagenet", "labs", "ranks")
PACKAGES = ("horovod", "numpy", "tensorflow", "tensorflow-cpu", "ipython")


def key_of(work: Work, source: Path, sandbox: str) -> str:
    """Return the digest of all that a verdict depends on; `source` is the lab's notebook with hidden tests."""
    parts = (work.digest(), hashlib.sha256(source.read_bytes()).hexdigest(), _kit_digest(), sandbox)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _kit_digest() -> str:
    digest = hashlib.sha256(platform.python_version().encode())
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            digest.update(f"{name} {version(name)}\n".encode())
    for part in PARTS:
        for path in sorted((PACKAGE / part).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
