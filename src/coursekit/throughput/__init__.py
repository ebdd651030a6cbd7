"""Measure the speed of training and the share of communication, from step times and Horovod's timeline; show both."""

from coursekit.throughput.picture import PUBLISHED_P100, Row, show_throughput
from coursekit.throughput.steps import StepTimes, step_times, warn_if_busy
from coursekit.throughput.timeline import Phases, Reduction, communication_share, phases_of_steps, reductions

__all__ = [
    "PUBLISHED_P100",
    "Phases",
    "Reduction",
    "Row",
    "StepTimes",
    "communication_share",
    "phases_of_steps",
    "reductions",
    "show_throughput",
    "step_times",
    "warn_if_busy",
]
