"""What a training will do on more nodes of a site, from published speeds or from one's own job on one node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.run.results import LabResult
from coursekit.scaling.forecast import NOISE_ELSEWHERE, Training, calibrated, forecast
from coursekit.scaling.machine import Machine, find_gpu, find_speed, machine_of
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings
from coursekit.slurm.jobs.remembered import SubmittedJob
from coursekit.slurm.sites.profile import Partition, Site
from coursekit.text import counted

# What students train at a centre; the labs' own defaults are for laptops.
DEFAULTS: dict[str, Any] = {
    "model": "ResNet50",
    "image_size": 0,  # that of the recorded network
    "batch_size": 0,  # that of the published speed
    "global_batch_size": 0,
    "precision": "float32",
    "compression": "none",
    "num_groups": 0,  # as they come, which is best on many GPUs; the lab's default is for laptops
    "backward_passes_per_step": 1,
    "input_images_per_s": 0,  # of a rank; 0 for a pipeline that is always ahead
}
CHOICES = {"precision": ("float32", "mixed_float16", "mixed_bfloat16"), "compression": ("none", "fp16")}
RESULT = "result.json"


@dataclass(frozen=True)
class Plan:
    """A training on a machine, with what to say of where its speed is from."""

    title: str
    training: Training
    machine: Machine
    speed_from: str


def read_values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters as they were typed, on top of the defaults.

    Raises:
        CourseKitError: a parameter changes nothing about the speed, or its value is of another kind.
    """
    values = dict(DEFAULTS)
    for name, text in texts.items():
        if name not in DEFAULTS:
            raise CourseKitError(f"{name} is not known to predictions: they know {', '.join(DEFAULTS)}.")
        kind = type(DEFAULTS[name])
        try:
            values[name] = kind(text)
        except ValueError:
            raise CourseKitError(f"{name} must be a whole number, not {text!r}.") from None
        if kind is int and values[name] < 0:
            raise CourseKitError(f"{name} must not be below 0, and is {text}.")
        if name in CHOICES and text not in CHOICES[name]:
            raise CourseKitError(f"{name} must be one of {', '.join(CHOICES[name])}, not {text!r}.")
    if not values["backward_passes_per_step"]:
        raise CourseKitError("backward_passes_per_step must be at least 1.")
    return values


def make_plan(site: Site, partition: Partition, values: Mapping[str, Any], measured: Path | None = None) -> Plan:
    """Return what is to be predicted.

    Args:
        site: the machine.
        partition: which of its nodes.
        values: parameters as `read_values` returns them.
        measured: the folder of a job that measured this training on one node; None for a published speed.

    Raises:
        CourseKitError: a speed, a link or the network is not known; the sentence says what to give instead.
    """
    machine = _machine(site, partition)
    if measured:
        return _from_job(site, partition, machine, values, measured)
    speed = find_speed(find_gpu(partition.gpu), values["model"], values["batch_size"], values["precision"])
    if not speed:
        raise CourseKitError(
            f"nobody published how fast one {partition.gpu.partition(',')[0]} trains {values['model']} in "
            f"{values['precision']}, as far as this course knows: run the lab there on one node and give its folder "
            "with --from, such as --from jobs/03-keras-cnn-123."
        )
    network = find_network(values["model"])
    batch_size = values["batch_size"] or speed.batch_size
    if values["image_size"] not in {0, network.image_size}:
        raise CourseKitError(
            f"the published speed is for images of {network.image_size} pixels, "
            f"not {values['image_size']}: leave image_size out, or give one of your jobs with --from."
        )
    training = _as_wished(Training(network, batch_size, speed.images_per_s, NOISE_ELSEWHERE), values)
    words = f"{speed.images_per_s:g} images/s on a GPU with batch {speed.batch_size}, {speed.software}: {speed.source}"
    if batch_size != speed.batch_size or values["global_batch_size"]:
        words += ". For other batches, the same time for each image is assumed, which is kind to small ones"
    if batch_size > speed.batch_size:
        words += ", and nobody looked whether they fit into memory"
    return Plan(_title(site, training, values), training, machine, words)


def compare(site: Site, job: SubmittedJob, result: LabResult) -> str:
    """Return a sentence with the speed that a job measured beside what was predicted; '' where nothing can be said."""
    if not result.images_per_s:
        return ""
    values = {**DEFAULTS, **{name: value for name, value in result.parameters.items() if name in DEFAULTS}}
    measured = f"Job {job.job_id} measured {result.images_per_s:.0f} images/s on {counted(result.num_ranks, 'rank')}"
    with suppress(CourseKitError):
        plan = make_plan(site, site.kind(), values)
        num_nodes = plan.machine.num_nodes(result.num_ranks)
        if num_nodes * plan.machine.num_ranks_per_node == result.num_ranks:
            row = forecast(plan.training, plan.machine, [num_nodes])[0]
            band = f"nine times of ten {row.low:.0f} to {row.high:.0f} ({plan.speed_from})"
            return f"{measured}; predicted were {row.images_per_s:.0f}, {band}."
    return (
        f"{measured}. From that: coursekit predict {job.lab[:2]} --site {site.name} --nodes 1,2,4,8 --from {job.folder}"
    )


def too_many_nodes(site: Site, partition: Partition, num_nodes: int) -> str:
    """Return a sentence where nobody gets so many nodes, or ''."""
    if partition.num_nodes and num_nodes > partition.num_nodes:
        return f"{site.name} has only {partition.num_nodes} such nodes: larger counts are hypothetical."
    if partition.max_num_nodes and num_nodes > partition.max_num_nodes:
        return f"A job of {site.name} may have {partition.max_num_nodes} such nodes at most in this partition."
    return ""


def _machine(site: Site, partition: Partition) -> Machine:
    if not partition.has_gpus:
        raise CourseKitError(f"{site.name} has no GPUs in its profile: predictions are for nodes with GPUs.")
    gpu = find_gpu(partition.gpu)
    if not partition.fabric_gbit_per_s:
        raise CourseKitError(
            f"how much a node of {site.name} sends is not known: "
            f"give fabric_gbit_per_s in slurm/sites/{site.name}.toml."
        )
    return machine_of(gpu, partition.num_gpus_per_node, partition.fabric_gbit_per_s)


def _from_job(site: Site, partition: Partition, machine: Machine, values: Mapping[str, Any], folder: Path) -> Plan:
    """Return the plan with the speed that a job of one's own measured."""
    result = _read_result(folder)
    ran = {**result.parameters, **{name: value for name, value in values.items() if value != DEFAULTS[name]}}
    num_ranks = result.num_ranks
    if num_ranks > partition.num_gpus_per_node:
        raise CourseKitError(
            f"{folder} ran on {num_ranks} ranks, more than a node of {site.name} has: give a job on one node."
        )
    missing = [name for name in ("model", "image_size", "batch_size") if not ran.get(name)]
    if missing:
        raise CourseKitError(f"{folder} does not say its {' and '.join(missing)}: give them with -p.")
    network = find_network(ran["model"], ran["image_size"])
    begun = Training(network, ran["batch_size"], result.images_per_s, 0.0, 0, _settings({**DEFAULTS, **ran}))
    training = calibrated(begun, machine, num_ranks, result.images_per_s)
    training = _as_wished(training, {**DEFAULTS, **ran, "global_batch_size": values["global_batch_size"]})
    words = (
        f"{training.images_per_s:.4g} images/s on one GPU, from {result.images_per_s:.4g} on {num_ranks} in {folder}"
    )
    return Plan(_title(site, training, {**DEFAULTS, **ran}), training, machine, words)


def _read_result(folder: Path) -> LabResult:
    try:
        result = LabResult.from_json(json.loads((folder / RESULT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, LookupError):
        raise CourseKitError(f"{folder} holds no readable {RESULT}: give the folder of a job that has ended.") from None
    if not result.images_per_s:
        raise CourseKitError(f"{folder} measured no images per second: give a job that ran lab 03 or 04 to its end.")
    return result


def _settings(values: Mapping[str, Any]) -> Settings:
    return Settings(bytes_per_number=2 if values["compression"] == "fp16" else 4, num_groups=values["num_groups"])


def _as_wished(training: Training, values: Mapping[str, Any]) -> Training:
    """Return the training with what does not change the speed of one GPU."""
    return replace(
        training,
        global_batch_size=values["global_batch_size"],
        settings=_settings(values),
        num_batches=values["backward_passes_per_step"],
        input_images_per_s=values["input_images_per_s"],
    )


def _title(site: Site, training: Training, values: Mapping[str, Any]) -> str:
    batch = f"batch {training.batch_size} per GPU"
    if training.global_batch_size:
        batch = f"{training.global_batch_size} images in a step of all GPUs"
    name = site.title.partition(",")[0]
    return f"{training.network.name} on {name}, {training.network.image_size} pixels, {batch}, {values['precision']}"
