"""Submissions follow one another in a slot, and none hears what was meant for the one before."""

from __future__ import annotations

import os

from coursekit.judging.running import find_zygote
from coursekit.judging.submission import grade
from coursekit.sandbox import watcher


def test_a_request_that_comes_too_late_costs_the_next_submission_nothing(program, work, slot):
    """A launcher that is killed between two requests leaves the second one unread in the channel."""
    with slot.submission() as running:
        assert running.ask({"op": "cells", "cells": []}, 5) == {"cells": []}
        watcher.kill_below(find_zygote(os.getpid()))
        assert running.ask({"op": "cells", "cells": []}, 5)["error"][0] == "ProcessEnded"
    verdict = grade(program, work(), slot, left_out=("facts-tests",))

    assert (verdict.fault, verdict.points) == ("", 2)
