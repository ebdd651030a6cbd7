"""Three ways to start two ranks: seconds from the call to the result of one tiny allreduce."""

from __future__ import annotations

from typing import Any

from workshop.bench.launch import measure_launch

REPEAT = 2


def record() -> dict[str, Any]:
    """Run the kit's benchmark, with few repeats."""
    measured = measure_launch(REPEAT, lambda _: None)
    return {
        "ways": [
            {"name": one.name, "first_s": round(one.first_s, 3), "seconds": [round(each, 3) for each in one.seconds]}
            for one in measured.series
        ],
        "median_s": {one.name.replace(".", "_"): round(one.median_s, 3) for one in measured.series},
    }
