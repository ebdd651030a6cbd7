"""The folder of a training run: an interrupted run is continued, and a finished one is moved aside."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_json

NETWORK, RESULT = "network.json", "result.json"


def begin_training(folder: str | Path, *, is_writer: bool, **network: Any) -> Path:
    """Return the folder of a training run; the rank that writes to this folder also prepares it.

    If the folder, for example "training", holds a result, it is renamed "training-before", and a new folder is made.
    If the folder holds no result, its checkpoints stay, and training continues from them.

    Args:
        folder: for checkpoints and logs.
        is_writer: whether this rank is the one that writes; the other ranks leave the folder alone.
        **network: settings that define the network, such as its name; its checkpoints do not fit any other network.

    Raises:
        CourseKitError: the folder holds an interrupted run with another network.
    """
    folder = Path(folder)
    if not is_writer:
        return folder
    if (folder / RESULT).exists():
        before = folder.with_name(f"{folder.name}-before")
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    made_from = folder / NETWORK
    found = json.loads(made_from.read_text(encoding="utf-8")) if made_from.exists() else network
    if found != network:
        raise CourseKitError(
            f"{folder} holds an interrupted run with {_in_words(found)}, not with {_in_words(network)}: "
            "choose another folder, or remove this one.",
            "training.other-network",
        )
    write_json(made_from, network)
    return folder


def end_training(folder: Path, result: Mapping[str, Any]) -> None:
    """Write the result of a finished run to its folder; numbers of types that JSON lacks become floats."""
    write_json(folder / RESULT, json.loads(json.dumps(result, default=float)))


def _in_words(network: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in network.items())
