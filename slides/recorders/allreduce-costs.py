"""What four ways to an allreduce cost: counted in their schedules, not measured."""

from __future__ import annotations

from typing import Any

from workshop.slides.allreduce import WAYS, count

NUMS_RANKS = (2, 4, 8, 16, 32, 64)


def record() -> dict[str, Any]:
    """Count steps and data, in units of the whole array, for each way and number of ranks."""
    costs = {way: [count(schedule(num)) for num in NUMS_RANKS] for way, schedule in WAYS.items()}
    return {
        "nums_ranks": NUMS_RANKS,
        **{
            way: {
                "steps": [one.steps for one in many],
                "path": [round(float(one.path), 4) for one in many],
                "busiest": [round(float(one.busiest), 4) for one in many],
                "average": [round(float(one.average), 4) for one in many],
            }
            for way, many in costs.items()
        },
    }
