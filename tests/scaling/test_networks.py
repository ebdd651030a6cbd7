"""Parameters and arithmetic of networks, recorded and counted."""

import json
import runpy
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.scaling.networks import RECORDED, find_network, recorded

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "count_networks.py"))


@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")  # Keras with a seed
@pytest.mark.parametrize(("name", "size"), [("MobileNetV2", 96), ("VGG16", 32)])
def test_the_record_is_what_keras_says_today(name, size):
    """`tools/count_networks.py` would write the same numbers again."""
    assert find_network(name, size) == TOOL["count"](name, size)


def test_totals_are_those_of_tensorflows_profiler():
    """The slides' recorder counts whole graphs with TensorFlow's profiler; our layers miss normalisations only."""
    networks = json.loads((ROOT / "slides" / "results" / "parameters-and-arithmetic.json").read_text())["data"][
        "networks"
    ]
    ours = [find_network(one["network"], one["image_size"]) for one in networks]

    num_parameters = [sum(sum(layer.num_parameters) for layer in one.layers) for one in ours]
    gflop = [sum(layer.gflop for layer in one.layers) for one in ours]
    assert [round(number / 1e6, 2) for number in num_parameters] == [one["million_parameters"] for one in networks]
    assert gflop == pytest.approx([one["gflop"] for one in networks], rel=0.003)


def test_the_tool_writes_what_is_read():
    """Line by line, the record itself."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()[1:-1]

    assert [TOOL["as_json"](one) for one in recorded()] == [line.removesuffix(",") for line in lines]


def test_a_network_that_is_not_recorded():
    """The sentence says which are, and how to add one; a size that is not recorded is none either."""
    for name, image_size, shown in (("Xception", 0, "Xception"), ("ResNet50", 31, "ResNet50 for 31 pixels")):
        with pytest.raises(CourseKitError, match=rf"^{shown} .*VGG16.*network.not-recorded"):
            find_network(name, image_size)
