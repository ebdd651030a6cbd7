# ruff: noqa: INP001  # programs that run before anything is installed, and no package
"""Running other programs while the environment is made, and reading the lock files."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "env"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "coursekit-stamp.json"
TENSORFLOW = os.environ["COURSEKIT_TENSORFLOW"]  # tools/make-env sets it
LOCK = ROOT / f"requirements-{TENSORFLOW}.lock"
BUILD_LOCK = ROOT / "tools" / "build-requirements.lock"
GPU_LOCK = ROOT / "tools" / f"gpu-requirements-{TENSORFLOW}.lock"
CONDA_WAY = "use conda instead (conda env create -f environment.yml)"
# Kept from every program: other environments, flags of the outer make, a surrounding MPI job, settings of Horovod.
UNWANTED = re.compile(r"PYTHON(PATH|HOME)|VIRTUAL_ENV|MAKE.*|MFLAGS|(OMPI|PMIX|PMI|PRTE|HOROVOD)_.*")
# In a terminal signs of life come each second and the next line takes their place; a log gets one every 30 s.
TICK_S, CLEAR, LINE_END = (1, "\r\x1b[K", "") if sys.stdout.isatty() else (30, "", "\n")


class SetupError(Exception):
    """Something that the user can fix, said in one sentence."""


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"{CLEAR}make env: {text}", flush=True)


def read_stamp() -> object:
    """Return the ingredients of the finished environment, or None when there is none."""
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return None


def environment(**extra: str) -> dict[str, str]:
    """Return this process's variables without the unwanted ones, with `.venv/bin` first on the PATH."""
    kept = {name: value for name, value in os.environ.items() if not UNWANTED.fullmatch(name)}
    # uv gives up on a silent line after 30 s unless told otherwise, and TensorFlow is a large wheel.
    kept.setdefault("UV_HTTP_TIMEOUT", "300")
    return {**kept, "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}", **extra}


def run(*command: str | Path, log: Path | None = None, limit_s: float = float("inf"), **extra: str) -> int | None:
    """Run a program to its end, with a sign of life when it takes long.

    Args:
        command: The program and its words.
        log: Where its output goes; None lets it through to the terminal.
        limit_s: Seconds after which it is stopped.
        extra: Variables added to its environment.

    Returns:
        Its exit status, or None when the limit ended it.
    """
    with running(*command, log=log, **extra) as process:
        return wait(process, limit_s=limit_s)


@contextlib.contextmanager
def running(*command: str | Path, log: Path | None = None, **extra: str) -> Iterator[subprocess.Popen[bytes]]:
    """Let a program run beside the body of a `with`, which it does not outlive; what it is given is as for `run`."""
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(log.open("w")) if log else None
        # A session of its own: whatever ends the body, the compilers under make are ended too.
        with signals_later():  # one that came while it starts would leave it without anybody who ends it
            process = subprocess.Popen(
                command,
                env=environment(**extra),
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            stack.callback(end, process)
        yield process


@contextlib.contextmanager
def signals_later() -> Iterator[None]:
    """Keep what asks this process to stop until the end of a `with` block."""
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def wait(
    process: subprocess.Popen[bytes], progress: Callable[[], str] = lambda: "", limit_s: float = float("inf")
) -> int | None:
    """Wait for a program, with signs of life that `progress` adds to; return as `run` does."""
    started_s = time.monotonic()
    while (left_s := started_s + limit_s - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(TICK_S, left_s))
        if left_s > TICK_S:
            elapsed = f"make env:   {time.monotonic() - started_s:.0f} s {progress()}"
            print(f"{CLEAR}{elapsed}", end=LINE_END, flush=True)
    return None


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a program together with everything it started and that still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def uv(*words: str | Path) -> None:
    """Run uv, from `.venv` or else from the PATH, on the packages of `.venv`."""
    program = VENV / "bin" / "uv" if (VENV / "bin" / "uv").exists() else "uv"
    if run(program, "pip", *words, VIRTUAL_ENV=str(VENV)) != 0:
        raise SetupError(f"uv pip {words[0]} failed: the lines above say why; run make env again once that is fixed.")


def pip_install(name: str) -> None:
    """Install one package of the build lock with the pip of `.venv`."""
    words = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    if run(PYTHON, "-m", "pip", *words, "--requirement", requirement(name)) != 0:
        raise SetupError(
            f"pip could not install {name}: the lines above say why; run make env again once that is fixed."
        )


def pin(lock: Path, name: str) -> str:
    """Return the lines of `lock` that pin the package `name`, hashes included."""
    found = re.search(rf"^{name}==(?:.*\\\n)*.*\n", lock.read_text(), re.MULTILINE)
    if found is None:
        raise SetupError(f"{lock} holds no line {name}==...: run make lock.")
    return found[0]


def requirement(name: str) -> Path:
    """Write the pin of one package of the build lock to a requirements file and return its path."""
    path = BUILD / f"{name}.txt"
    path.write_text(pin(BUILD_LOCK, name))
    return path
