# ruff: noqa: INP001  # programs that run before anything is installed, and no package
"""Compiling Horovod against the TensorFlow in `.venv`, and keeping the wheel for the user's next clone."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import gpus
from shell import (
    BUILD,
    BUILD_LOCK,
    CONDA_WAY,
    GPU_LOCK,
    LOCK,
    PYTHON,
    ROOT,
    VENV,
    SetupError,
    pin,
    pip_install,
    read_stamp,
    requirement,
    running,
    say,
    wait,
)

# Variables that change what is built; those that only steer a run (HOROVOD_CYCLE_TIME, ...) are not among them.
BUILD_SETTINGS = re.compile(r"CC|CXX|HOROVOD_(GPU|CPU_OPERATIONS|CUDA|NCCL|ROCM|BUILD|WITH|MPICXX).*")

UNPLAIN = re.compile(r"[^\w./+-]")  # what build files and shells may take for something else than a path

WITHOUT_GLOO = "HOROVOD_WITHOUT_GLOO"  # "1" for ranks that join by MPI alone
CHANGES = ROOT / "tools" / "horovod.cmake"  # what is compiled otherwise than Horovod says
PLAIN, FAST = "plain", "fast"  # without and with the changes for ranks that share cores


def settings() -> dict[str, str]:
    """Return the variables that change what is built: this shell's, and Horovod's for NCCL.

    Raises:
        SetupError: They leave out Gloo, and there is no MPI: nothing would join ranks.
    """
    given = {name: value for name, value in sorted(os.environ.items()) if BUILD_SETTINGS.fullmatch(name)}
    if given.get(WITHOUT_GLOO) == "1" and shutil.which("mpicc") is None:
        raise SetupError(
            "HOROVOD_WITHOUT_GLOO=1 leaves out Gloo, and without mpicc there is no MPI to join ranks: unset it."
        )
    asked = gpus.kind() == gpus.NCCL and not any(name.startswith(gpus.OPERATIONS) for name in given)
    return {**given, f"{gpus.OPERATIONS}_OPERATIONS": "NCCL"} if asked else given


def variant() -> str:
    """Return `PLAIN` or `FAST`: what `HOROVOD` asks for, or else what `.venv` was made with; for GPUs always `PLAIN`.

    Raises:
        SetupError: `HOROVOD` is neither.
    """
    asked = os.environ.get("HOROVOD", "")
    if asked not in {"", PLAIN, FAST}:
        raise SetupError(f"HOROVOD={asked} is neither {PLAIN} nor {FAST}: set one of them, or leave it unset.")
    stamp = read_stamp()
    made = stamp.get("horovod", "") if isinstance(stamp, dict) else ""
    return PLAIN if gpus.kind() != gpus.NONE else asked or made or FAST


def tensorflow_pin() -> str:
    """Return the lines that pin the TensorFlow to build against."""
    return pin(LOCK, "tensorflow-cpu") if gpus.has_package_for_cpus() else pin(GPU_LOCK, "tensorflow")


def find_compiler() -> None:
    """Make sure that C++17 can be compiled, before anything large is downloaded."""
    compilers = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "c++"]
    for compiler in compilers:
        words = [*compiler.split(), "-std=c++17", "-fsyntax-only", "-x", "c++", os.devnull]
        with contextlib.suppress(OSError):
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return
    raise SetupError(
        f"Horovod has to be compiled and there is no working C++17 compiler (looked for: {', '.join(compilers)}): "
        f"install one (Debian: apt install g++ make; a cluster: module load gcc), or {CONDA_WAY}."
    )


def find_cmake() -> str:
    """Return a cmake that Horovod's build files work with: the system's, or one installed into `.venv`."""
    cmake = shutil.which("cmake")
    if cmake is not None:
        answer = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"version (\d+)\.(\d+)", answer)
        if version and (3, 13) <= (int(version[1]), int(version[2])) < (4, 0):
            return cmake
    say("installing cmake from the package index (there is none here from 3.13 up to 4)")
    pip_install("cmake")
    return str(VENV / "bin" / "cmake")


@contextlib.contextmanager
def plain_paths() -> Iterator[tuple[Path, dict[str, str]]]:
    """Return the Python to compile with and variables with paths, by ways without spaces and brackets.

    Horovod's build files do not take such paths; a link in a temporary folder stands for a checkout that has one.
    """
    with contextlib.ExitStack() as stack:
        root, variables = ROOT, {}
        usual = tempfile.gettempdir()
        if any(map(UNPLAIN.search, (str(ROOT), usual))):
            parent = usual if UNPLAIN.search(usual) is None else "/tmp"  # noqa: S108 - as tempfile, for a private folder
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="coursekit-", dir=parent))
            root = Path(folder, "checkout")
            root.symlink_to(ROOT)
            variables = {"TMPDIR": folder}
        yield root / PYTHON.relative_to(ROOT), {"HOROVOD_CMAKE": str(root / "tools" / "horovod-cmake"), **variables}


@contextlib.contextmanager
def compiling() -> Iterator[Callable[[], Path]]:
    """Compile Horovod beside the body of a `with`, and hand it a function that waits for the wheel and returns it."""
    mpi = shutil.which("mpicc") is not None
    log = BUILD / "horovod.log"
    cmake = find_cmake()
    gloo = settings().get(WITHOUT_GLOO) != "1"
    controllers = ("Gloo and MPI" if gloo else "MPI") if mpi else "Gloo and without MPI (no mpicc on the PATH)"
    horovod = f"Horovod ({variant()}) with {controllers}"
    say(f"compiling {horovod}: 1 to 3 minutes on 2 cores (log in {log.relative_to(ROOT)})")
    wheels = BUILD / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    variables = {
        **settings(),
        "HOROVOD_WITH_TENSORFLOW": "1",
        "HOROVOD_WITHOUT_PYTORCH": "1",
        "HOROVOD_WITHOUT_MXNET": "1",
        **({"HOROVOD_WITH_GLOO": "1"} if gloo else {}),
        "HOROVOD_WITH_MPI" if mpi else "HOROVOD_WITHOUT_MPI": "1",
        "COURSEKIT_CMAKE": cmake,
        "COURSEKIT_HOROVOD": variant(),
        "MAKEFLAGS": f"-j{min(os.cpu_count() or 1, 8)}",  # at most 8: each compiler takes about 1 GB
    }
    # pip and uv keep the wheels they build without regard to these variables, hence no cache but our own.
    words = ("--no-cache-dir", "--no-deps", "--no-build-isolation", "--require-hashes", "--verbose")
    command = ("-m", "pip", "wheel", *words, "--wheel-dir", wheels, "--requirement", requirement("horovod"))
    with plain_paths() as (python, paths), running(python, *command, log=log, **variables, **paths) as process:

        def wheel() -> Path:
            if wait(process, lambda: percent(log)) != 0:
                print(last_words(log), file=sys.stderr)
                raise SetupError(
                    f"Horovod could not be compiled: fix what the lines above say ({log} has all), or {CONDA_WAY}."
                )
            return next(wheels.glob("horovod-*.whl"))

        yield wheel


def last_words(log: Path) -> str:
    """Return the last lines of the compilers; what setup.py and pip say after them explains nothing."""
    compilers, _, _ = log.read_text(errors="replace").partition("Traceback (most recent call last)")
    return "\n".join(compilers.rstrip().splitlines()[-25:])


def percent(log: Path) -> str:
    """Say how far the compilation is, from make's own figures in its log."""
    found = re.findall(r"\[ *(\d+)%\]", log.read_text(errors="replace"))
    return f"({found[-1]} % compiled)" if found else ""


def kept_wheel(ingredients: dict[str, object]) -> Path | None:
    """Return where this user keeps the wheel for these ingredients; None when `COURSEKIT_NO_CACHE` is set."""
    if os.environ.get("COURSEKIT_NO_CACHE"):
        return None
    pins = [tensorflow_pin(), pin(BUILD_LOCK, "horovod")]
    parts = {**ingredients, "folder": None, "tensorflow": None, "locks": pins, "libc": platform.libc_ver()}
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    version = pins[1].split()[0].replace("==", "-")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "coursekit" / key / f"{version}-{tag}-{tag}-linux_{platform.machine()}.whl"


def keep(wheel: Path, place: Path) -> None:
    """Put a checked wheel where the next clone looks for it; a full or read-only home costs only that."""
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(f".{secrets.token_hex(8)}")
        shutil.copyfile(wheel, part)
        part.replace(place)
