"""The file that the program writes which measures the memory of GPUs."""

import sys
from pathlib import Path

from workshop.bench import gpu_memory

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).parents[3] / "src" / "coursekit" / "scaling" / "gpu_memory.toml"


def test_recorded_peaks_grow_with_the_batch_and_stay_below_their_limit():
    """What trained within a limit took no more than that, and a larger batch takes more."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    series = {}
    for row in content["rows"]:
        of_one = (row["network"], row["image_size"], row["precision"], row["limit_mbyte"])
        series.setdefault(of_one, []).append((row["batch_size"], row.get("peak")))

    assert {(name, size) for name, size, *_ in series} == {*gpu_memory.NETWORKS}
    for (*_, limit_mbyte), found in series.items():
        peaks = [peak for _, peak in found if peak is not None]
        assert peaks == sorted(peaks)
        assert found == sorted(found, key=lambda one: one[0])
        assert not limit_mbyte or max(peaks) <= limit_mbyte * 2**20
