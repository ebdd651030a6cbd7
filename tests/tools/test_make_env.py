"""tools/make_env.py: when it has something to do, and how it fails."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

BASE_PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def start(checkout, variables):
    """A function that starts make_env.py in the checkout as tools/make-env does."""

    def popen(*words, **extra):
        command = [BASE_PYTHON, "-EsS", *(words or ["tools/make_env.py"])]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=checkout, env={**variables, **extra}, stdout=pipe, stderr=pipe, text=True)

    return popen


@pytest.fixture
def finish(start):
    """A function that runs make_env.py to its end and returns exit status, output and error output."""

    def run(*words, **extra):
        with start(*words, **extra) as process:
            output, errors = process.communicate(timeout=900)
        return process.returncode, output, errors

    return run


@pytest.fixture
def without_venv(programs):
    """Words that run make_env.py under a Python that makes no virtual environment: that takes seconds."""
    python = programs("python3", "exit 0")
    code = f"import sys; sys.path.insert(0, 'tools'); import make_env; sys.executable = {str(python)!r}; "
    return ("-c", f"{code}make_env.main()")


@pytest.fixture
def stamp(checkout, ask):
    """The stamp of a finished environment, as make_env.py writes it."""
    path = checkout / ".venv" / "coursekit-stamp.json"
    path.parent.mkdir()
    path.write_text(json.dumps(ask("make_env.ingredients()")))
    return path


def test_finished_environment_is_left_alone(stamp, checkout, finish):
    """With a stamp that holds, nothing is printed and nothing is changed."""
    assert finish() == (0, "", "")
    assert {path.name for path in checkout.iterdir()} & {"build"} == set()
    assert list(stamp.parent.iterdir()) == [stamp]


def append(path):
    """Change a file."""
    with path.open("a") as file:
        file.write("# changed\n")


def move(stamp):
    """Let the stamp be that of another folder: a virtual environment does not survive a move."""
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "folder": "/elsewhere"}))


@pytest.mark.parametrize(
    "change",
    [
        lambda checkout, _: append(checkout / "requirements-2.15.lock"),
        lambda checkout, _: append(checkout / "tools/build-requirements.lock"),
        lambda checkout, _: append(checkout / "tools/horovod.cmake"),
        lambda checkout, _: move(checkout / ".venv" / "coursekit-stamp.json"),
        lambda _, programs: programs("mpicc", "exit 0"),
    ],
    ids=["lock", "lock of the build", "what is changed in Horovod", "folder", "MPI"],
)
@pytest.mark.usefixtures("stamp")
def test_what_the_environment_is_made_from_breaks_the_stamp(change, checkout, programs, ask):
    """With another ingredient the next make env has something to do."""
    assert ask("make_env.ingredients() == make_env.read_stamp()") is True
    change(checkout, programs)
    assert ask("make_env.ingredients() == make_env.read_stamp()") is False


@pytest.mark.usefixtures("stamp")
@pytest.mark.parametrize(
    ("name", "changes_build"),
    [
        ("HOROVOD_GPU_OPERATIONS", True),
        ("CXX", True),
        ("HOROVOD_CYCLE_TIME", False),
    ],
)
def test_only_build_settings_break_the_stamp(name, changes_build, ask):
    """Variables that change what is compiled are ingredients; those that only steer a run are not."""
    differs = ask("make_env.ingredients() != make_env.read_stamp()", **{name: "NCCL"})

    assert differs is changes_build


def test_tensorflow_that_was_asked_for_is_an_ingredient(ask):
    """The stamp names it, so that tools/make-env finds it there; another TensorFlow has another lock."""
    asked = ask("make_env.ingredients()", TENSORFLOW="2.21", COURSEKIT_TENSORFLOW="2.21")
    by_default = ask("make_env.ingredients()", COURSEKIT_TENSORFLOW="2.21")

    assert asked == {**by_default, "tensorflow": "2.21"}
    assert by_default["locks"] != ask("make_env.ingredients()")["locks"]


def test_horovod_is_fast_or_plain(stamp, ask):
    """HOROVOD=plain leaves out what is there for ranks that share cores; that is an ingredient, and stays."""
    assert ask("make_env.ingredients() != make_env.read_stamp()", HOROVOD="plain") is True
    stamp.write_text(json.dumps(ask("make_env.ingredients()", HOROVOD="plain")))
    assert ask("make_env.ingredients() == make_env.read_stamp()") is True
    assert ask("horovod_wheel.variant()", HOROVOD="fast") == "fast"
    assert ask("horovod_wheel.variant()", HOROVOD="slow") == (
        "shell.SetupError: HOROVOD=slow is neither plain nor fast: set one of them, or leave it unset."
    )


def test_a_horovod_with_neither_gloo_nor_mpi_is_not_compiled(ask, tmp_path):
    """It could join no ranks, which is known before anything is made; one with MPI alone can."""
    assert ask("horovod_wheel.settings()", HOROVOD_WITHOUT_GLOO="1", PATH=str(tmp_path)) == (
        "shell.SetupError: HOROVOD_WITHOUT_GLOO=1 leaves out Gloo, and without mpicc there is no MPI to join ranks: "
        "unset it."
    )
    (tmp_path / "mpicc").touch(mode=0o755)
    assert ask("horovod_wheel.settings()", HOROVOD_WITHOUT_GLOO="1", PATH=str(tmp_path)) == {
        "HOROVOD_WITHOUT_GLOO": "1"
    }


def test_no_compiler_is_one_sentence(checkout, finish):
    """Without a C++ compiler nothing is made: one sentence says what to install and names the conda way."""
    status, output, errors = finish()

    assert (status, output) == (1, "")
    (sentence,) = errors.splitlines()
    assert sentence.startswith(
        "make env: Horovod has to be compiled and there is no working C++17 compiler (looked for: g++, c++): install "
    )
    assert "conda env create -f environment.yml" in sentence
    assert not (checkout / ".venv").exists()


def test_compiler_without_cpp17_does_not_count(programs, finish):
    """A compiler too old for TensorFlow's headers is found out before anything is downloaded."""
    programs("g++", "echo 'unrecognized option -std=c++17' >&2; exit 1")

    status, _, errors = finish()

    assert (status, "no working C++17 compiler" in errors) == (1, True)


def test_python_without_venv_is_one_sentence(programs, link, checkout, finish):
    """A Python without ensurepip (Debian's before python3-venv is installed) ends in a sentence that says so."""
    link("g++")
    python = programs("python3", "exit 1")

    program = (
        f"import sys; sys.path.insert(0, 'tools'); import make_env; sys.executable = {str(python)!r}; make_env.main()"
    )
    status, _, errors = finish("-c", program)

    assert status == 1
    assert errors == (
        f"make env: {python} cannot make virtual environments: install what it lacks "
        "(Debian: apt install python3-venv), name another Python (make env PYTHON=...), "
        "or use conda instead (conda env create -f environment.yml).\n"
    )
    assert not (checkout / ".venv").exists()


def test_failure_leaves_no_stamp(stamp, programs, link, finish, without_venv):
    """When the packages cannot be installed, the exit status says so and the old stamp is gone."""
    link("g++", "ld", "as")
    programs("uv", '[ "$1" = --version ] && exit 0; echo "no such package" >&2; exit 2')

    status, _, errors = finish(*without_venv, HOROVOD_GPU_OPERATIONS="NCCL")

    assert status == 1
    assert errors == (
        "no such package\n"
        "make env: uv pip install failed: the lines above say why; run make env again once that is fixed.\n"
    )
    assert not stamp.exists()


def test_interruption_leaves_no_stamp_and_no_process(stamp, programs, link, start, without_venv):
    """Being stopped ends make env and all that it started; the fixture of every test looks for the processes."""
    link("g++", "ld", "as", "sleep", "touch")
    started = programs.folder / "started"
    programs("uv", f'[ "$1" = --version ] && exit 0; sleep 600 & touch {started}; wait')

    with start(*without_venv, HOROVOD_GPU_OPERATIONS="NCCL") as process:
        deadline_s = time.monotonic() + 900
        while not started.exists() and time.monotonic() < deadline_s:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=900)

    assert (process.returncode, errors) == (1, "make env: interrupted; run it again to start anew\n")
    assert not stamp.exists()


def test_too_new_cmake_is_replaced(checkout, programs, ask):
    """A system's from 3.13 up to 4 is used; a 4 refuses Horovod's build files: one below is installed, with hashes."""
    suitable = programs("cmake", "echo cmake version 3.13.4")
    assert ask("horovod_wheel.find_cmake()") == str(suitable)
    programs("cmake", "echo cmake version 4.0.1")
    python = programs("python", 'for word; do last=$word; done; [ -s "$last" ] && echo "$@" > pip.txt')
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / "build" / "env").mkdir(parents=True)
    python.rename(checkout / ".venv" / "bin" / "python")

    program = ask("[horovod_wheel.say, setattr(horovod_wheel, 'say', str), horovod_wheel.find_cmake()][2:]")

    assert program == [str(checkout / ".venv" / "bin" / "cmake")]
    assert (checkout / "pip.txt").read_text().startswith("-m pip install")
    requirement = (checkout / "build" / "env" / "cmake.txt").read_text()
    assert requirement.startswith("cmake==3.")
    assert "--hash=sha256:" in requirement


def test_packages_lie_there_as_bytecode():
    """Who may not write into the environment never compiles: so even modules that nobody imports are compiled."""
    tools = Path(sysconfig.get_path("purelib"), "tensorflow", "python", "tools")
    modules = [*tools.glob("*.py")]
    assert modules
    assert [path.name for path in modules if not Path(importlib.util.cache_from_source(path)).exists()] == []


@pytest.mark.parametrize("place", ["my course (2026)", "plain"])
def test_compilers_see_no_space_of_the_checkouts_path(place, tmp_path, checkout, ask):
    """Horovod's build files take no such path: its Python, cmake and TMPDIR are reached by a link while it runs."""
    root = checkout.rename(tmp_path / place)
    checkout.symlink_to(root)
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").touch()
    seen = (
        "[(str(python), variables, python.samefile(shell.PYTHON), "
        "shell.Path(variables['HOROVOD_CMAKE']).samefile(shell.ROOT / 'tools' / 'horovod-cmake')) "
        "for python, variables in [stack.enter_context(horovod_wheel.plain_paths())]][0]"
    )
    ((python, variables, *are_the_same),) = ask(
        f"[{seen} for stack in [horovod_wheel.contextlib.ExitStack()]]", TMPDIR=str(root)
    )

    assert are_the_same == [True, True]
    assert not any(character in " ()" for path in (python, *variables.values()) for character in path)
    assert ("TMPDIR" in variables) is (place != "plain")


def test_kept_wheel_depends_on_all_that_it_was_built_with(programs, tmp_path, ask):
    """Another clone finds the wheel; another MPI, GPU setting or kind of Horovod, or COURSEKIT_NO_CACHE, does not."""
    place = "str(horovod_wheel.kept_wheel(make_env.ingredients()))"
    places = [
        ask(place),
        ask("str(horovod_wheel.kept_wheel({**make_env.ingredients(), 'folder': 'another clone'}))"),
        ask(place, TENSORFLOW="2.15"),
        ask(place, HOROVOD_GPU_OPERATIONS="NCCL"),
        ask(place, HOROVOD="plain"),
        ask(place, COURSEKIT_TENSORFLOW="2.21"),
    ]
    programs("mpicc", "exit 0")
    places.append(ask(place))

    assert places[0] == places[1] == places[2]
    assert len({*places}) == 5
    assert places[0].startswith(str(tmp_path / "home" / ".cache" / "coursekit"))
    assert ask("horovod_wheel.kept_wheel(make_env.ingredients())", COURSEKIT_NO_CACHE="1") is None


def test_kept_wheel_that_does_not_work_is_dropped(programs, checkout, ask, finish):
    """A wheel of the cache that cannot be installed is removed, so that the next make env compiles Horovod anew."""
    wheel = Path(ask("str(horovod_wheel.kept_wheel(make_env.ingredients()))"))
    wheel.parent.mkdir(parents=True)
    wheel.write_bytes(b"cut off")
    programs("uv", 'for word; do case "$word" in *.whl) echo "not a wheel" >&2; exit 2;; esac; done')

    status, _, errors = finish()

    assert (status, errors.splitlines()[0]) == (1, "not a wheel")
    assert not wheel.exists()
    assert not (checkout / ".venv" / "coursekit-stamp.json").exists()


def test_kept_wheel_that_can_be_imported_stays(programs, link, checkout, ask, finish):
    """What keeps two ranks apart on this machine is no fault of the wheel: it stays, and the sentence names it."""
    wheel = Path(ask("str(horovod_wheel.kept_wheel(make_env.ingredients()))"))
    wheel.parent.mkdir(parents=True)
    wheel.write_bytes(b"good")
    link("mkdir")
    packages = f"{checkout}/.venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    install = f"mkdir -p {packages}/horovod; > {packages}/horovod/tensorflow.py"
    programs("uv", f'for word; do case "$word" in *.whl) {install};; esac; done')

    status, _, errors = finish()

    assert (status, str(wheel) in errors) == (1, True)
    assert wheel.read_bytes() == b"good"
    assert not (checkout / ".venv" / "coursekit-stamp.json").exists()


def test_limit_ends_a_program_with_its_children(programs, link, ask):
    """A program that takes too long is ended with what it started; the fixture of every test looks for it."""
    link("sleep")
    endless = programs("endless", "sleep 600 & sleep 600")

    assert ask(f"shell.run({str(endless)!r}, limit_s=0.2)") is None


def test_a_signal_waits_until_what_starts_can_be_ended(checkout, finish):
    """Stopped while a program starts, make env first takes note of it; then the interruption comes."""
    (checkout / "stop.py").write_text(
        "import os, signal, sys; sys.path.insert(0, 'tools')\n"
        "import shell\n"
        "signal.signal(signal.SIGTERM, signal.default_int_handler)\n"
        "try:\n"
        "    with shell.signals_later():\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        print('started')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )

    assert finish("stop.py") == (0, "started\nstopped\n", "")
