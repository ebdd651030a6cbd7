"""Calls of the kernel."""

import os
import re
import subprocess
import sys

import pytest

SINCE = (6, 1)  # version of the kernel
USES_HUGE_PAGES = """
import re
from pathlib import Path
from coursekit.grading.isolation.system import use_huge_pages

def huge_kb():
    return int(re.search(r"AnonHugePages: +(\\d+) kB", Path("/proc/self/smaps_rollup").read_text())[1])

numbers = bytes(range(256)) * (64 << 12)
use_huge_pages()
print(huge_kb(), numbers == bytes(range(256)) * (64 << 12))
"""


@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < SINCE, reason=f"needs Linux {SINCE[0]}.{SINCE[1]}"
)
def test_memory_is_in_huge_pages():
    """Of 64 MiB at least 62, as the first and the last page may be incomplete; what they hold stays."""
    done = subprocess.run([sys.executable, "-c", USES_HUGE_PAGES], capture_output=True, text=True, check=True)

    huge_kb, is_same = done.stdout.split()
    assert (int(huge_kb) >= 62 << 10, is_same) == (True, "True")
