"""The program that measures the memory of GPUs, on a stand-in for a GPU, and the file that it writes."""

import sys
from pathlib import Path

import pytest
import tensorflow as tf

from workshop.bench import gpu_memory

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).parents[3] / "src" / "coursekit" / "scaling" / "gpu_memory.toml"


@pytest.fixture
def gpu(monkeypatch):
    """Let the processor stand for a GPU whose memory two batch sizes fit in."""
    memory = tf.config.experimental
    monkeypatch.setattr(gpu_memory, "BATCH_SIZES", (1, 2, 3, 4))
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    monkeypatch.setattr(tf.config, "set_logical_device_configuration", lambda *_: None)
    monkeypatch.setattr(memory, "reset_memory_stats", lambda _: None)
    monkeypatch.setattr(memory, "get_memory_info", lambda _: {"peak": 7, "current": 5})
    measure_peaks = gpu_memory.peaks

    def peaks(network, images, labels):
        if len(images) > 2:
            raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")
        return measure_peaks(network, images, labels)

    monkeypatch.setattr(gpu_memory, "peaks", peaks)


@pytest.mark.usefixtures("gpu")
def test_batch_sizes_are_tried_up_to_the_first_that_does_not_fit():
    """A row has the numbers of its batch size, and the last one says that the next size did not train."""
    rows = gpu_memory.measure("SmallCNN", 8, "float32", 16_000)

    which = 'network = "SmallCNN", image_size = 8, precision = "float32", limit_mbyte = 16000'
    assert rows == [
        f"{{ {which}, batch_size = 1, first_step = 7, peak = 7, lasting = 5 }}",
        f"{{ {which}, batch_size = 2, first_step = 7, peak = 7, lasting = 5 }}",
        f"{{ {which}, batch_size = 3, fits = false }}",
    ]


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
