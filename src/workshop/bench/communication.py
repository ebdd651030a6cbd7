"""The communication benchmark: what share of their speed two ranks keep when they average gradients."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from coursekit.ranks.horovod_build import CONTROLLER_VARIABLE
from workshop.bench.measurement import Measurement, Progress, Series, compare
from workshop.bench.programs import times
from workshop.bench.steps import FULL_SPEED, NUM_RANKS, Case, Setting

# Looking for gradients every 10 ms, not every millisecond, leaves the core to the computation.
CYCLE = {"HOROVOD_CYCLE_TIME": "10"}
# Over shared memory, buffers of 2 MiB stay in the cache of a core.
SMALL_BUFFERS = {"HOROVOD_FUSION_THRESHOLD": str(2 * 1024**2)}
# One group: a single exchange of all gradients, and a single branch to trace.
ONE_GROUP = {"groups": 1}

SETTINGS = (
    Setting("Gloo, by default"),
    Setting("Gloo, tuned", CYCLE, ONE_GROUP, bound=True, traced_once=True),
    Setting("MPI, tuned", {**CYCLE, **SMALL_BUFFERS}, ONE_GROUP, bound=True, traced_once=True),
)
CASES = {"MobileNetV2": Case("MobileNetV2", 96, 16, 3, 8), "ResNet50": Case("ResNet50", 64, 16, 3, 5)}


def measure_mobilenetv2(repeat: int, progress: Progress) -> Measurement:
    """Measure the laptop's network, 3.5 million parameters."""
    return measure_settings(CASES["MobileNetV2"].in_turns(repeat), SETTINGS, progress)


def measure_resnet50(repeat: int, progress: Progress) -> Measurement:
    """Measure a network of 25.6 million parameters."""
    return measure_settings(CASES["ResNet50"].in_turns(repeat), SETTINGS, progress)


def measure_settings(case: Case, settings: Sequence[Setting], progress: Progress) -> Measurement:
    """Run each setting on two fresh ranks, which take steps with and without communication in turns.

    The time of a step is the mean over the ranks.

    Raises:
        CourseKitError: the ranks failed, or took longer than their limit.
    """
    series: list[Series] = []
    for setting in settings:
        progress(f"{case.network}, {setting.name}")
        environ = {CONTROLLER_VARIABLE: setting.name.partition(",")[0]}
        timings = times("steps", *(json.dumps(asdict(one)) for one in (case, setting)), environ=environ)
        names = [setting.name] if series else [FULL_SPEED, setting.name]
        series += series_of(timings, FULL_SPEED, names)
    return compare(
        f"a training step of {case.network} on {NUM_RANKS} ranks, {case.image_size} px, batch {case.batch_size}", series
    )


def series_of(timings: Mapping[str, Sequence[float]], full_speed: str, names: Sequence[str]) -> list[Series]:
    """Return a series for each kind of step, compared with the kind at full speed; first steps are kept separate."""
    full_speed_s = statistics.median(timings[full_speed][1:])
    return [Series(name, timings[name][0], tuple(timings[name][1:]), full_speed_s) for name in names]
