"""`coursekit --help`: every verb by who uses it, each in one whole line, and nothing loaded for it."""

import errno
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import click
import pytest
from click.testing import CliRunner

import coursekit.cli
import workshop.cli
from coursekit.cli import STAMP, main
from coursekit.errors import codes_in

PROGRAM = """
import sys
from coursekit.cli import cli
cli(["--help"], standalone_mode=False)
print(sorted(name for name in sys.modules if name.startswith("coursekit.")))
"""


PROGRAMS = {"coursekit": coursekit.cli, "workshop": workshop.cli}
VERBS = [(name, verb) for name, program in PROGRAMS.items() for verbs in program.GROUPS.values() for verb in verbs]


@pytest.mark.parametrize("program", PROGRAMS)
def test_verbs_stand_by_who_uses_them_in_whole_lines_of_80_columns(program):
    """No line is wrapped or cut, no verb is missing, and none stands twice."""
    groups = PROGRAMS[program].GROUPS
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(PROGRAMS[program].cli, ["--help"]).output.split("\n\n")
    headed = [part.strip("\n").split("\n") for part in shown[-len(groups) :]]
    expected = {f"{user}:": [[name, line] for name, line in verbs.items()] for user, verbs in groups.items()}
    assert {head: [re.split(r" {2,}", line.strip()) for line in lines] for head, *lines in headed} == expected
    assert max(len(line) for part in shown for line in part.split("\n")) <= 80
    assert len(set(VERBS)) == len(VERBS)


def test_help_loads_no_verb():
    """So it answers at once, although verbs bring nbgrader, papermill or TensorFlow with them."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['coursekit.cli', 'coursekit.errors', 'coursekit.text']"


@pytest.mark.parametrize(("program", "verb"), VERBS)
def test_every_help_has_an_example(program, verb):
    """The help of a verb, and of each verb within it, ends with a command that a newcomer can copy."""
    cli = PROGRAMS[program].cli
    command = cli.get_command(click.Context(cli), verb)
    for inner in (command, *getattr(command, "commands", {}).values()):
        words = verb if inner is command else f"{verb} {inner.name}"
        done = CliRunner().invoke(inner, ["--help"])
        assert done.exit_code == 0
        assert re.search(rf"^  Example: .*\b{program} {words}\b", done.output, re.MULTILINE)


@pytest.fixture
def another_numpy(tmp_path, monkeypatch):
    """A folder on PYTHONPATH with a NumPy that is not this environment's and cannot be imported."""
    (tmp_path / "site" / "numpy").mkdir(parents=True)
    (tmp_path / "site" / "numpy" / "__init__.py").write_text("raise ImportError('compiled for another Python')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    return str(tmp_path / "site")


@pytest.mark.usefixtures("another_numpy")
@pytest.mark.skipif(not Path(sys.prefix, STAMP).exists(), reason="an environment that make env did not make")
def test_packages_of_a_site_do_not_take_the_place_of_those_of_make_env():
    """A verb that imports NumPy starts as it would without PYTHONPATH, with all words of its command line."""
    done = subprocess.run(
        [sys.executable, "-m", "coursekit", "predict", "--no-such-word"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "no-such-word" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["doctor", "predict"])
def test_another_numpy_on_pythonpath_is_one_sentence(name, another_numpy):
    """In an environment of another kind, and in the doctor: the variable, the package and its folder."""
    program = "import coursekit.cli as program; program.STAMP = 'none'; program.main()"
    done = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, check=False)
    (sentence,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert all(word in sentence for word in ("PYTHONPATH", "numpy", another_numpy))


@pytest.mark.parametrize("source", ["", "raise ImportError('compiled for another Python')"], ids=["old", "broken"])
@pytest.mark.parametrize("stamp", ["STAMP", "'none'"])
def test_another_click_on_pythonpath_breaks_no_command(source, stamp, tmp_path, monkeypatch):
    """The command starts with its own click, in an environment of any kind."""
    (tmp_path / "click.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    program = f"import coursekit.cli as program; program.STAMP = program.{stamp}; program.main()".replace(
        "program.'", "'"
    )
    done = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: coursekit ")


def test_what_does_not_fit_together_at_work_is_one_sentence(another_numpy, monkeypatch, capsys):
    """A package may fail long after it was imported."""
    monkeypatch.setattr("coursekit.cli.STAMP", "none")
    monkeypatch.setattr("coursekit.cli.cli", mock.Mock(side_effect=AttributeError("no attribute bool8")))
    with pytest.raises(SystemExit, match="1"):
        main()
    message = capsys.readouterr().err
    assert (codes_in(message), another_numpy in message) == (["packages.hidden"], True)


@pytest.mark.parametrize(
    ("error", "code", "path"),
    [
        (OSError(errno.EROFS, "Read-only file system", "/data/x"), "disk.read-only", "/data/x"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk.full", ""),
        (PermissionError(errno.EACCES, "Permission denied", "/data/x"), "file.refused", "/data/x"),
        (OSError(errno.ENOSPC, "No space left on device", "/a", None, "/data/x"), "disk.full", "/data/x"),
        (shutil.Error([("/a", "/data/x", "[Errno 28] No space left on device")]), "file.not-copied", "/data/x"),
        (KeyError("getpwuid(): uid not found: 12345"), "account.no-name", ""),
        (RuntimeError("Could not determine home directory."), "account.no-home", ""),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_the_system_refuses_is_one_sentence(error, code, path, monkeypatch, capsys):
    """A file that cannot be written, an account without a name or home: one line that names it, and exit status 1."""
    monkeypatch.setattr("coursekit.cli.cli", mock.Mock(side_effect=error))
    with pytest.raises(SystemExit) as caught:
        main()

    (line,) = capsys.readouterr().err.splitlines()
    assert (caught.value.code, codes_in(line), path in line) == (1, [code], True)


@pytest.mark.parametrize("error", [OSError("odd"), KeyError("loss"), RuntimeError("odd")], ids=str)
def test_bugs_keep_their_traceback(error, monkeypatch):
    """What is nothing of the system's comes out as it was raised."""
    monkeypatch.setattr("coursekit.cli.cli", mock.Mock(side_effect=error))
    with pytest.raises(type(error)) as caught:
        main()
    assert caught.value is error
