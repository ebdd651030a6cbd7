# ruff: noqa: INP001  # a program, and no package
"""Count the layers of well-known networks: `src/coursekit/scaling/networks.json`, which predictions read."""

from __future__ import annotations

import json

from coursekit.scaling import networks

# At the size that each was made for, and as the recorder of slides/results/scaling.json trains them.
NETWORKS = (
    ("MobileNetV2", 224), ("DenseNet121", 224), ("InceptionV3", 299), ("ResNet50", 224), ("ResNet101", 224),
    ("VGG16", 224), ("MobileNetV2", 96), ("VGG16", 32),
)  # fmt: skip

if __name__ == "__main__":
    lines = (json.dumps(networks.as_json(networks.count(*one)), separators=(",", ":")) for one in NETWORKS)
    networks.RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
