"""A submission runs in a sandbox of its lab's framework."""

import pytest

from coursekit.grading.inside.wire import TimedCell
from coursekit.grading.judge.slot import Slot

pytestmark = pytest.mark.needs("bwrap", "torch")

LOOK = TimedCell("look", "import sys; print(*sorted({'torch', 'tensorflow'} & {*sys.modules}))", 5.0)


def test_a_slot_takes_another_sandbox_for_another_framework():
    """PyTorch alone is imported for one lab, TensorFlow alone for the other."""
    found = []
    with Slot() as slot:
        for framework in ("torch", "horovod"):
            with slot.submission(framework) as running:
                [cell] = running.ask({"op": "cells", "cells": [LOOK]}, 20)["cells"]
            found.append(cell["output"].strip())
    assert found == ["torch", "tensorflow"]
