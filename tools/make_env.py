# ruff: noqa: INP001  # programs that run before anything is installed, and no package
"""Make `.venv`: the locked packages, this package, and a Horovod compiled here against the TensorFlow beside it.

Called by `tools/make-env` (that is, `make env`) and written for a bare Python 3.10 to 3.13: nothing is installed yet.
A stamp inside `.venv` says what the environment was made from; while that still holds there is nothing to do.
When it no longer holds, `.venv` is made anew, so that no half-finished or mixed environment survives.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpus
import horovod_wheel
from shell import (
    BUILD,
    BUILD_LOCK,
    CONDA_WAY,
    GPU_LOCK,
    LOCK,
    PYTHON,
    ROOT,
    STAMP,
    VENV,
    SetupError,
    environment,
    pin,
    pip_install,
    read_stamp,
    run,
    say,
    uv,
)

ALLREDUCE_LIMIT_S = 180


def main() -> None:
    """Make the environment if need be; what the user can fix ends in one sentence and exit status 1."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that being stopped ends the compilers too
    try:
        make_unless_there()
    except SetupError as error:
        sys.exit(f"make env: {error}")
    except KeyboardInterrupt:
        sys.exit("make env: interrupted; run it again to start anew")


def make_unless_there() -> None:
    """Make the environment unless the stamp says that it is there."""
    wanted = ingredients()
    if read_stamp() == wanted:
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second make env waits here and then finds everything done
        if read_stamp() != wanted:
            make(wanted)


def ingredients() -> dict[str, object]:
    """Return all that the environment is made from; equal ingredients mean an equal environment."""
    mpicc = shutil.which("mpicc")
    locks = (LOCK, BUILD_LOCK) if gpus.has_package_for_cpus() else (LOCK, BUILD_LOCK, GPU_LOCK)
    return {
        "folder": str(ROOT),
        # The real path: inside .venv as well as outside it, this names the interpreter the environment is based on.
        "python": [os.path.realpath(sys.executable), platform.python_version(), platform.machine()],
        "locks": [hashlib.sha256(lock.read_bytes()).hexdigest() for lock in locks],
        "mpicc": mpicc and [os.path.realpath(mpicc), Path(mpicc).stat().st_mtime_ns],
        "settings": horovod_wheel.settings(),
        "horovod": horovod_wheel.variant(),
        "changes": hashlib.sha256(horovod_wheel.CHANGES.read_bytes()).hexdigest(),
        "bytecode": "of all packages",  # an environment without is made anew
        "programs": ["coursekit", "workshop"],
        **({"gpus": gpus.HOST} if gpus.kind() == gpus.HOST else {}),
        **({"tensorflow": asked} if (asked := os.environ.get("TENSORFLOW")) else {}),  # tools/make-env reads it
    }


def make(wanted: dict[str, object]) -> None:
    """Make the environment from nothing; the stamp comes last, so what is interrupted or fails never has one."""
    started_s = time.monotonic()
    STAMP.unlink(missing_ok=True)
    kept = horovod_wheel.kept_wheel(wanted)
    is_kept = kept is not None and kept.exists()
    if not is_kept:
        horovod_wheel.find_compiler()
    make_venv()
    install_uv()
    if is_kept:
        wheel = kept
        install_packages()
    else:
        install_what_compiling_needs()
        with horovod_wheel.compiling() as compiled:
            install_packages()  # wait for the network while the compilers keep all cores busy
            wheel = compiled()
    try:
        uv("install", "--quiet", "--no-deps", wheel)
        check_allreduce()
    except SetupError as error:
        if not is_kept:
            raise
        if run(PYTHON, "-c", "import horovod.tensorflow", log=BUILD / "import.log") != 0:
            wheel.unlink()  # the next make env compiles Horovod instead
            raise
        raise SetupError(f"{error}\nCOURSEKIT_NO_CACHE=1 make env compiles another Horovod than {wheel}.") from None
    if kept and not is_kept:
        horovod_wheel.keep(wheel, kept)
    compile_to_bytecode()
    STAMP.write_text(json.dumps(wanted, indent=1))
    say(f".venv is ready after {time.monotonic() - started_s:.0f} s, {gpus.words()}")
    warn_of_closed_python()


def make_venv() -> None:
    """Make an empty `.venv` with pip in it."""
    python = os.path.realpath(sys.executable)
    say(f"making .venv with Python {platform.python_version()} ({python}), {gpus.words()}")
    if run(python, "-c", "import ensurepip, venv", log=BUILD / "venv.log") != 0:
        raise SetupError(
            f"{python} cannot make virtual environments: install what it lacks (Debian: apt install python3-venv), "
            f"name another Python (make env PYTHON=...), or {CONDA_WAY}."
        )
    if run(python, "-m", "venv", "--clear", VENV) != 0:
        raise SetupError(f"{python} -m venv {VENV} failed: the lines above say why.")


def install_uv() -> None:
    """Install uv into `.venv` unless there is one."""
    if shutil.which("uv") is None or run("uv", "--version", log=BUILD / "uv.log") != 0:
        pip_install("uv")


def install_packages() -> None:
    """Install the locked packages and this one."""
    size = "about 1 GB" if gpus.kind() == gpus.NONE else "about 3 GB"
    say(f"installing the locked packages: 1 to 3 minutes when they have to be downloaded ({size})")
    uv("install", "--quiet", "--require-hashes", "--requirement", requirements())
    uv("install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    if (ROOT / "src" / "workshop").is_dir():  # for the authors of the kit: it is in no package and no students' copy
        program = PYTHON.with_name("workshop")
        program.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m workshop "$@"\n')
        program.chmod(0o755)


def install_what_compiling_needs() -> None:
    """Install TensorFlow and the tools that Horovod is built with, in the locked versions."""
    say("installing TensorFlow, which Horovod is compiled against")
    needed = BUILD / "needed.txt"
    needed.write_text(horovod_wheel.tensorflow_pin() + pin(LOCK, "setuptools") + pin(LOCK, "wheel"))
    uv("install", "--quiet", "--require-hashes", "--requirement", needed, "--constraint", requirements())


def compile_to_bytecode() -> None:
    """Compile what no program has imported yet: who may only read `.venv` would compile it at every start.

    These are students at a centre, and code in a sandbox.
    """
    say("compiling the packages to bytecode")
    run(PYTHON, "-m", "compileall", "-q", "-j", "0", VENV / "lib", log=BUILD / "bytecode.log")  # not all files can be


def warn_of_closed_python() -> None:
    """Say where the Python behind `.venv` lies if that keeps other accounts out, as root's home does."""
    program = "from coursekit.paths import closed_to_others as why; print(why())"
    why = subprocess.run([PYTHON, "-c", program], env=environment(), capture_output=True, text=True, check=False).stdout
    if why.strip():
        say(f"{why.strip()}; for a class, name a Python that all can start: make env PYTHON=/usr/bin/python3")


def requirements() -> Path:
    """Write the lock with the TensorFlow that is made for, and return the file's path."""
    path = BUILD / "requirements.txt"
    pins = GPU_LOCK.read_text() if gpus.kind() == gpus.HOST else horovod_wheel.tensorflow_pin()
    path.write_text(LOCK.read_text().replace(pin(LOCK, "tensorflow-cpu"), pins))
    return path


def check_allreduce() -> None:
    """Let two ranks of what was just built add up their numbers."""
    say("checking an allreduce between two ranks")
    log = BUILD / "allreduce.log"
    status = run(PYTHON, "-m", "coursekit.slurm.probe", "allreduce", log=log, limit_s=ALLREDUCE_LIMIT_S)
    if status != 0:
        how = f"did not finish in {ALLREDUCE_LIMIT_S} s" if status is None else "failed"
        raise SetupError(f"An allreduce between two ranks of the new Horovod {how}; {log} says:\n{log.read_text()}")


if __name__ == "__main__":
    main()
