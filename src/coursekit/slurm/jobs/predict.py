"""What a training will do on more nodes of a site, from published speeds or from a speed of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from coursekit.errors import CourseKitError
from coursekit.scaling.belief import NOISE
from coursekit.scaling.forecast import NOISE_ELSEWHERE, Training
from coursekit.scaling.machine import Machine, find_gpu, find_speed, machine_of
from coursekit.scaling.networks import find_network
from coursekit.scaling.step import Settings
from coursekit.slurm.sites.profile import Partition, Site

# What students train at a centre; the labs' own defaults are for laptops.
DEFAULTS: dict[str, Any] = {
    "model": "ResNet50",
    "batch_size": 0,  # that of the published speed
    "global_batch_size": 0,
    "precision": "float32",
    "compression": "none",
    "images_per_s": 0,  # of one GPU alone, measured there; 0 for the published speed
}
CHOICES = {"precision": ("float32", "mixed_float16", "mixed_bfloat16"), "compression": ("none", "fp16")}


class Plan(NamedTuple):
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
        if name in CHOICES and text not in CHOICES[name]:
            raise CourseKitError(f"{name} must be one of {', '.join(CHOICES[name])}, not {text!r}.")
        if isinstance(DEFAULTS[name], int) and not text.isdecimal():
            raise CourseKitError(f"{name} must be a whole number, not {text!r}.")
        values[name] = type(DEFAULTS[name])(text)
    return values


def make_plan(site: Site, partition: Partition, values: Mapping[str, Any]) -> Plan:
    """Return what is to be predicted, with parameters as `read_values` returns them.

    Raises:
        CourseKitError: a speed, a link or the network is not known; the sentence says what to give instead.
    """
    if not partition.has_gpus:
        raise CourseKitError(f"{site.name} has no GPUs in its profile: predictions are for nodes with GPUs.")
    gpu = find_gpu(partition.gpu)
    if not partition.fabric_gbit_per_s:
        raise CourseKitError(
            f"how much a node of {site.name} sends is not known: "
            f"give fabric_gbit_per_s in slurm/sites/{site.name}.toml."
        )
    network = find_network(values["model"])
    batch_size, images_per_s, noise = values["batch_size"], values["images_per_s"], NOISE
    if images_per_s:
        if not batch_size:
            raise CourseKitError("images_per_s is the speed with a batch of some size: give batch_size, too.")
        speed_from = f"{images_per_s} images/s on a GPU with batch {batch_size}, as you gave it"
    else:
        speed = find_speed(gpu, network.name, batch_size, values["precision"])
        if not speed:
            raise CourseKitError(
                f"nobody published how fast one {partition.gpu.partition(',')[0]} trains {network.name} in "
                f"{values['precision']}, as far as this course knows: run the lab there on one GPU and give its speed "
                "with -p images_per_s."
            )
        batch_size, images_per_s, noise = batch_size or speed.batch_size, speed.images_per_s, NOISE_ELSEWHERE
        speed_from = (
            f"{images_per_s:g} images/s on a GPU with batch {speed.batch_size}, {speed.software}: {speed.source}"
        )
        if batch_size != speed.batch_size or values["global_batch_size"]:
            speed_from += ". For other batches, the same time for each image is assumed, which is kind to small ones"
        if batch_size > speed.batch_size:
            speed_from += ", and nobody looked whether they fit into memory"
    settings = Settings(bytes_per_number=2 if values["compression"] == "fp16" else 4)
    training = Training(network, batch_size, images_per_s, noise, values["global_batch_size"], settings)
    machine = machine_of(gpu, partition.num_gpus_per_node, partition.fabric_gbit_per_s)
    batch = f"{training.global_batch_size} images in a step of all GPUs"
    if not training.global_batch_size:
        batch = f"batch {batch_size} per GPU"
    title = f"{network.name} on {site.title.partition(',')[0]}, {network.image_size} pixels, {batch}"
    return Plan(f"{title}, {values['precision']}", training, machine, speed_from)
