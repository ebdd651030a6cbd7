# ruff: noqa: INP001  # programs that run before anything is installed, and no package
"""Which environment this machine gets: for CPUs, for NVIDIA GPUs with what the package index has, or with NCCL.

What was made once stays, also on a login node without GPUs: the stamp of `.venv` remembers it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from shell import TENSORFLOW, SetupError, read_stamp

NONE, HOST, NCCL = "none", "host", "nccl"
WORDS = {
    NONE: "for CPUs",
    HOST: "for NVIDIA GPUs: TensorFlow with CUDA's libraries from the package index, "
    "and a Horovod that averages gradients in the host's memory, which is slower than NCCL and as right",
    NCCL: "for NVIDIA GPUs: a Horovod that averages gradients with NCCL, on the CUDA of this machine",
}
SETTING = "COURSEKIT_GPUS"
OPERATIONS = "HOROVOD_GPU"  # variables of Horovod itself that begin with it ask for NCCL
MACHINE = "x86_64"  # elsewhere the package index has a TensorFlow for CPUs only, under the name of that for GPUs
CUDA = "12"
CUDNN = "libcudnn.so.8" if TENSORFLOW == "2.15" else "libcudnn.so.9"
ASK_LIMIT_S = 60


@cache
def kind() -> str:
    """Return `NONE`, `HOST` or `NCCL`: what is asked for, what `.venv` was made for, or else what the machine has.

    Raises:
        SetupError: `COURSEKIT_GPUS` is none of them, or this machine cannot have it.
    """
    if any(name.startswith(OPERATIONS) for name in os.environ):
        return NCCL
    asked = os.environ.get(SETTING, "")
    if asked and asked not in WORDS:
        raise SetupError(f"{SETTING}={asked} is none of {', '.join(WORDS)}: set one of them, or leave it unset.")
    if asked in {HOST, NCCL} and platform.machine() != MACHINE:
        raise SetupError(f"{SETTING}={asked} needs a processor {MACHINE}, and this is {platform.machine()}.")
    return asked or made() or found()


def has_package_for_cpus() -> bool:
    """Whether TensorFlow comes as `tensorflow-cpu`, and not as `tensorflow`."""
    return kind() == NONE and platform.machine() == MACHINE


def made() -> str:
    """Return what the finished environment was made for; '' when there is none."""
    stamp = read_stamp()
    if not isinstance(stamp, dict):
        return ""
    with_nccl = any(name.startswith(OPERATIONS) for name in stamp.get("settings", ()))
    return NCCL if with_nccl else str(stamp.get("gpus", NONE))


def found() -> str:
    """Return what this machine has: GPUs or none, and all that compiling for NCCL takes or not."""
    if platform.machine() != MACHINE or not num_gpus():
        return NONE
    return HOST if missing_for_nccl() else NCCL


def num_gpus() -> int:
    """Return how many NVIDIA GPUs the driver shows."""
    return sum(line.startswith("GPU ") for line in _said("nvidia-smi", "-L").splitlines())


def missing_for_nccl() -> list[str]:
    """Return what a Horovod with NCCL would take and is not here, in words."""
    nvcc = shutil.which("nvcc")
    compiler = nvcc and re.search(rf"release {CUDA}\.", _said(nvcc, "--version"))
    variables = [os.environ.get(name) for name in ("HOROVOD_NCCL_HOME", "NCCL_HOME", "CUDA_HOME")]
    folders = [Path(home, "include") for home in (*variables, "/usr", "/usr/local", "/usr/local/cuda") if home]
    folders += [Path(path) for path in (os.environ.get("CPATH") or "").split(os.pathsep) if path]
    header = any((folder / "nccl.h").is_file() for folder in folders)
    needed = {f"the nvcc of CUDA {CUDA}": compiler, "nccl.h": header, CUDNN: _loads(CUDNN)}
    return [name for name, there in needed.items() if not there]


def words() -> str:
    """Return a sentence on what is made, with what another kind would take."""
    missing = missing_for_nccl() if kind() == HOST else []
    return WORDS[kind()] + (f" (not here for NCCL: {', '.join(missing)})" if missing else "")


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=ASK_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
